// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.square_sum' op element type of y is 'f64', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.square_sum' op y has 1 dimension, expected none{{$}}}}
  %0 = square_sum %x : tensor<4xf32> -> tensor<1xf64>
  return
}

// -----

nn.block @b(%x: tensor<4xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.square_sum' op element type of x is 'i32', expected a float type{{$}}}}
  %0 = square_sum %x : tensor<4xi32> -> tensor<i32>
  return
}
