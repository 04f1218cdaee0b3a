// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%a: tensor<?x3xf32>, %b: tensor<?x4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.stack' op number of slices is 2, expected 3 (dimension 0 of y){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.stack' op dimension 1 of operand 1 is 4, expected 3 (dimension 1 of operand 0){{$}}}}
  %0 = stack %a, %b dim 0 : tensor<?x3xf32>, tensor<?x4xf32> -> tensor<3x?x3xf32>
  return
}

// -----

nn.block @b(%a: tensor<3xbf16>) {
  // expected-error-re @+1 {{{{^}}'nn.stack' op dim is 2, expected 0 to 1 (y has 2 dimensions){{$}}}}
  %0 = stack %a dim 2 : tensor<3xbf16> -> tensor<1x3xf32>
  return
}

// -----

nn.block @b(%a: tensor<3xbf16>) {
  // expected-error-re @+1 {{{{^}}'nn.stack' op element type of slice 0 is 'bf16', expected 'f32' (that of y){{$}}}}
  %0 = stack %a dim 0 : tensor<3xbf16> -> tensor<1x3xf32>
  return
}
