// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%i: tensor<2x3xi64>, %t: tensor<7x4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.embedding' op element type of ids is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.embedding' op element type of y is 'bf16', expected 'f32' (that of table){{$}}}}
  %0 = embedding %i, %t : tensor<2x3xi64>, tensor<7x4xf32> -> tensor<2x3x4xbf16>
  return
}

// -----

nn.block @b(%i: tensor<2x3xi32>, %t: tensor<7x4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.embedding' op dimension 1 of y is 5, expected 3 (dimension 1 of ids){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.embedding' op dimension 2 of y is 6, expected 4 (dimension 1 of table){{$}}}}
  %0 = embedding %i, %t : tensor<2x3xi32>, tensor<7x4xf32> -> tensor<2x5x6xf32>
  return
}

// -----

nn.block @b(%i: tensor<2x3xi32>, %t: tensor<7xi32>) {
  // expected-error-re @+2 {{{{^}}'nn.embedding' op element type of table is 'i32', expected a float type{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.embedding' op table has 1 dimension, expected 2 (v h){{$}}}}
  %0 = embedding %i, %t : tensor<2x3xi32>, tensor<7xi32> -> tensor<2x3x4xf32>
  return
}

// -----

nn.block @b(%i: tensor<?x3xi32>, %t: tensor<7x4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.embedding' op dimension 0 of y is 2, expected ? (dimension 0 of ids){{$}}}}
  %0 = embedding %i, %t : tensor<?x3xi32>, tensor<7x4xf32> -> tensor<2x3x4xf32>
  return
}
