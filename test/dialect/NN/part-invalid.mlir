// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x7x3xf32>) {
  // expected-error-re @+3 {{{{^}}'nn.part' op element type of y is 'bf16', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.part' op takes elements 4 to 8 of dimension 1 of x, which has 7{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.part' op dimension 2 of y is 2, expected 3 (dimension 2 of x){{$}}}}
  %0 = part %x dim 1 from 4 : tensor<?x7x3xf32> -> tensor<?x4x2xbf16>
  return
}

// -----

nn.block @b(%x: tensor<2x3xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.part' op dim is 2, expected 0 to 1 (x has 2 dimensions){{$}}}}
  %0 = part %x dim 2 from 0 : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x3xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.part' op y has 1 dimension, expected 2 (the rank of x){{$}}}}
  %0 = part %x dim 0 from 0 : tensor<2x3xf32> -> tensor<2xf32>
  return
}

// -----

nn.block @b(%x: tensor<?x3xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.part' op dimension 0 is ?, expected known sizes{{$}}}}
  %0 = part %x dim 0 from 0 : tensor<?x3xf32> -> tensor<?x3xf32>
  return
}
