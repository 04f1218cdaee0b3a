// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x4x3xf32>) {
  // expected-error-re @+3 {{{{^}}'nn.pad' op element type of x is 'f32', expected 'bf16' (that of y){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.pad' op puts elements 4 to 8 of dimension 1 of y, which has 7{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.pad' op dimension 2 of y is 2, expected 3 (dimension 2 of x){{$}}}}
  %0 = pad %x dim 1 from 4 : tensor<?x4x3xf32> -> tensor<?x7x2xbf16>
  return
}

// -----

nn.block @b(%x: tensor<2x3xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.pad' op dim is 2, expected 0 to 1 (y has 2 dimensions){{$}}}}
  %0 = pad %x dim 2 from 0 : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

nn.block @b(%x: tensor<2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.pad' op x has 1 dimension, expected 2 (the rank of y){{$}}}}
  %0 = pad %x dim 0 from 0 : tensor<2xf32> -> tensor<2x3xf32>
  return
}

// -----

nn.block @b(%x: tensor<?x3xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.pad' op dimension 0 is ?, expected known sizes{{$}}}}
  %0 = pad %x dim 0 from 0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return
}
