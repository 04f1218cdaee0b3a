// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.gelu' op dimension 0 of y is 2, expected ? (dimension 0 of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.gelu' op dimension 2 of y is 5, expected 4 (dimension 2 of x){{$}}}}
  %0 = gelu %x : tensor<?x3x4xf32> -> tensor<2x3x5xf32>
  return
}

// -----

nn.block @b(%x: tensor<?x3x4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.gelu' op element type of y is 'f64', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.gelu' op y has 2 dimensions, expected 3 (d0 d1 d2){{$}}}}
  %0 = gelu %x : tensor<?x3x4xf32> -> tensor<?x12xf64>
  return
}

// -----

nn.block @b(%x: tensor<2xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.gelu' op element type of x is 'i32', expected a float type{{$}}}}
  %0 = gelu %x : tensor<2xi32> -> tensor<2xi32>
  return
}
