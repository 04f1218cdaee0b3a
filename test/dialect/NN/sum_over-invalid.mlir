// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x5xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.sum_over' op element type of y is 'bf16', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.sum_over' op dimension 1 of y is 6, expected 5 (dimension 2 of x){{$}}}}
  %0 = sum_over %x dim 1 : tensor<?x3x5xf32> -> tensor<?x6xbf16>
  return
}

// -----

nn.block @b(%x: tensor<3x5xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.sum_over' op y has 2 dimensions, expected 1 (one less than x){{$}}}}
  %0 = sum_over %x dim 1 : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

nn.block @b(%x: tensor<3x5xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.sum_over' op dim is 2, expected 0 to 1 (x has 2 dimensions){{$}}}}
  %0 = sum_over %x dim 2 : tensor<3x5xf32> -> tensor<3xf32>
  return
}

// -----

nn.block @b(%x: tensor<3x5xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.sum_over' op element type of x is 'i32', expected a float type{{$}}}}
  %0 = sum_over %x dim 1 : tensor<3x5xi32> -> tensor<3xi32>
  return
}
