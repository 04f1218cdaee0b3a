// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x7xf32>, %m: tensor<?x4xf64>) {
  // expected-error-re @+3 {{{{^}}'nn.row_sum_exp' op element type of max is 'f64', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.row_sum_exp' op dimension 1 of max is 4, expected 3 (dimension 1 of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.row_sum_exp' op y has 1 dimension, expected 2 (b s){{$}}}}
  %0 = row_sum_exp %x, %m : tensor<?x3x7xf32>, tensor<?x4xf64> -> tensor<3xf32>
  return
}

// -----

nn.block @b(%x: tensor<f32>) {
  // expected-error-re @+1 {{{{^}}'nn.row_sum_exp' op x has 0 dimensions, expected at least 1{{$}}}}
  %0 = row_sum_exp %x, %x : tensor<f32>, tensor<f32> -> tensor<f32>
  return
}
