// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<4x2x3x8xf32>, %d: tensor<2x6x7xbf16>, %s: tensor<2x6x2xi64>) {
  // expected-error-re @+4 {{{{^}}'nn.combine_grad' op element type of dy is 'bf16', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.combine_grad' op element type of slots is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.combine_grad' op dimension 2 of dy is 7, expected 8 (dimension 3 of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.combine_grad' op dimension 2 of dweights is 3, expected 2 (dimension 2 of slots){{$}}}}
  %0 = combine_grad %x, %d by %s : tensor<4x2x3x8xf32>, tensor<2x6x7xbf16>, tensor<2x6x2xi64> -> tensor<2x6x3xf32>
  return
}
