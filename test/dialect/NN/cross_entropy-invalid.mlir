// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x7xf32>, %i: tensor<?x4xi64>) {
  // expected-error-re @+4 {{{{^}}'nn.cross_entropy' op element type of labels is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.cross_entropy' op element type of count is 'i32', expected 'i64'{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.cross_entropy' op dimension 1 of labels is 4, expected 3 (dimension 1 of logits){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.cross_entropy' op sum has 1 dimension, expected none{{$}}}}
  %0, %1 = cross_entropy %x, %i : tensor<?x3x7xf32>, tensor<?x4xi64> -> tensor<1xf32>, tensor<i32>
  return
}

// -----

nn.block @b(%x: tensor<3x7xf32>, %i: tensor<3xi32>) {
  // expected-error-re @+2 {{{{^}}'nn.cross_entropy' op logits has 2 dimensions, expected 3 (b s v){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.cross_entropy' op labels has 1 dimension, expected 2 (b s){{$}}}}
  %0, %1 = cross_entropy %x, %i : tensor<3x7xf32>, tensor<3xi32> -> tensor<f32>, tensor<i64>
  return
}

// -----

nn.block @b(%x: tensor<2x3x7xi8>, %i: tensor<2x3xi32>) {
  // expected-error-re @+4 {{{{^}}'nn.cross_entropy' op element type of logits is 'i8', expected a float type{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.cross_entropy' op element type of sum is 'f64', expected 'f32'{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.cross_entropy' op element type of lse is 'f64', expected 'f32'{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.cross_entropy' op dimension 1 of lse is 4, expected 3 (dimension 1 of logits){{$}}}}
  %0, %1, %2 = cross_entropy %x, %i : tensor<2x3x7xi8>, tensor<2x3xi32> -> tensor<f64>, tensor<i64>, tensor<2x4xf64>
  return
}
