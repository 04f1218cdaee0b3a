// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.sum' op dimension 0 of y is 3, expected 4 (dimension 2 of x){{$}}}}
  %0 = sum %x : tensor<?x3x4xf32> -> tensor<3xf32>
  return
}

// -----

nn.block @b(%x: tensor<4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.sum' op y has 2 dimensions, expected at most 1 (the rank of x){{$}}}}
  %0 = sum %x : tensor<4xf32> -> tensor<1x4xf32>
  return
}

// -----

nn.block @b(%x: tensor<4xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.sum' op element type of x is 'i32', expected a float type{{$}}}}
  %0 = sum %x : tensor<4xi32> -> tensor<i64>
  return
}

// -----

nn.block @b(%x: tensor<?x3x4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.sum' op element type of y is 'bf16', expected 'f32' (that of x){{$}}}}
  %0 = sum %x : tensor<?x3x4xf32> -> tensor<4xbf16>
  return
}
