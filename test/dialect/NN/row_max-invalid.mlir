// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x7xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.row_max' op dimension 1 of y is 7, expected 3 (dimension 1 of x){{$}}}}
  %0 = row_max %x : tensor<?x3x7xf32> -> tensor<?x7xf32>
  return
}

// -----

nn.block @b(%x: tensor<f32>) {
  // expected-error-re @+1 {{{{^}}'nn.row_max' op x has 0 dimensions, expected at least 1{{$}}}}
  %0 = row_max %x : tensor<f32> -> tensor<f32>
  return
}

// -----

nn.block @b(%x: tensor<3x7xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.row_max' op element type of x is 'i32', expected a float type{{$}}}}
  %0 = row_max %x : tensor<3x7xi32> -> tensor<3xi32>
  return
}
