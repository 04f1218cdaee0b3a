// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x5xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.spread' op element type of y is 'bf16', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.spread' op dimension 3 of y is 6, expected 5 (dimension 2 of x){{$}}}}
  %0 = spread %x dim 2 : tensor<?x3x5xf32> -> tensor<?x3x4x6xbf16>
  return
}

// -----

nn.block @b(%x: tensor<3x5xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.spread' op y has 2 dimensions, expected 3 (one more than x){{$}}}}
  %0 = spread %x dim 2 : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

nn.block @b(%x: tensor<3x5xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.spread' op dim is 3, expected 0 to 2 (y has 3 dimensions){{$}}}}
  %0 = spread %x dim 3 : tensor<3x5xf32> -> tensor<3x5x2xf32>
  return
}

// -----

nn.block @b(%x: tensor<3x5xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.spread' op dimension 0 of y is ?, expected how often x is repeated{{$}}}}
  %0 = spread %x dim 0 : tensor<3x5xf32> -> tensor<?x3x5xf32>
  return
}
