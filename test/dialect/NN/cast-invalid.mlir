// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<2x4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.cast' op makes 'f32' of itself, expected another float type{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.cast' op dimension 1 of y is 3, expected 4 (dimension 1 of x){{$}}}}
  %0 = cast %x : tensor<2x4xf32> -> tensor<2x3xf32>
  return
}

// -----

nn.block @b(%x: tensor<4xi32>) {
  // expected-error-re @+2 {{{{^}}'nn.cast' op element type of x is 'i32', expected a float type{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.cast' op element type of y is 'i64', expected a float type{{$}}}}
  %0 = cast %x : tensor<4xi32> -> tensor<4xi64>
  return
}
