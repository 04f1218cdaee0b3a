// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<5x2x3x8xf32>, %s: tensor<2x6x2xi32>, %t: tensor<2x4x3xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.combine' op dimension 0 of x is 5, expected 4, the experts of tokens{{$}}}}
  %0 = combine %x by %s, %t : tensor<5x2x3x8xf32>, tensor<2x6x2xi32>, tensor<2x4x3xi32> -> tensor<2x6x8xf32>
  return
}

// -----

nn.block @b(%x: tensor<4x2x3xf32>, %s: tensor<2x6x2xi32>, %t: tensor<2x4x3xi32>) {
  // expected-error-re @+2 {{{{^}}'nn.combine' op x has 3 dimensions, expected 4 (e b c h){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.combine' op dimension 1 of y is 7, expected 6 (dimension 1 of slots){{$}}}}
  %0 = combine %x by %s, %t : tensor<4x2x3xf32>, tensor<2x6x2xi32>, tensor<2x4x3xi32> -> tensor<2x7x8xf32>
  return
}
