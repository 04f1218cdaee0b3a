// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x2xf32>) {
  // expected-error-re @+3 {{{{^}}'nn.unstack' op number of slices is 2, expected 3 (dimension 1 of x){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.unstack' op element type of slice 1 is 'f64', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.unstack' op dimension 1 of result 1 is 3, expected 2 (dimension 2 of x){{$}}}}
  %0, %1 = unstack %x dim 1 : tensor<?x3x2xf32> -> tensor<?x2xf32>, tensor<?x3xf64>
  return
}

// -----

nn.block @b(%x: tensor<3xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.unstack' op dim is 1, expected 0 to 0 (x has 1 dimension){{$}}}}
  %0 = unstack %x dim 1 : tensor<3xf32> -> tensor<f32>
  return
}

// -----

nn.block @b(%x: tensor<3x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.unstack' op dim is -1, expected 0 to 1 (x has 2 dimensions){{$}}}}
  %0 = unstack %x dim -1 : tensor<3x2xf32> -> tensor<f32>
  return
}

// -----

nn.block @b(%x: tensor<?xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.unstack' op dimension 0 of x is ?, expected a known number of slices{{$}}}}
  %0 = unstack %x dim 0 : tensor<?xf32> -> tensor<f32>
  return
}
