// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%a: tensor<2x4x3x5xf32>, %m: tensor<2x4x2xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.attention_merge' op dimension 2 of a_lse is 2, expected 3 (dimension 2 of a){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.attention_merge' op dimension 2 of b_lse is 2, expected 3 (dimension 2 of a){{$}}}}
  %0, %1 = attention_merge %a, %m, %a, %m : tensor<2x4x3x5xf32>, tensor<2x4x2xf32>, tensor<2x4x3x5xf32>, tensor<2x4x2xf32> -> tensor<2x4x3x5xf32>, tensor<2x4x3xf32>
  return
}
