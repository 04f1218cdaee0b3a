// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x7xf32>, %i: tensor<?x4xi8>) {
  // expected-error-re @+3 {{{{^}}'nn.pick' op element type of y is 'bf16', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.pick' op element type of ids is 'i8', expected 'i32'{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.pick' op dimension 1 of ids is 4, expected 3 (dimension 1 of x){{$}}}}
  %0 = pick %x, %i : tensor<?x3x7xf32>, tensor<?x4xi8> -> tensor<?x3xbf16>
  return
}

// -----

nn.block @b(%x: tensor<f32>, %i: tensor<i32>) {
  // expected-error-re @+1 {{{{^}}'nn.pick' op x has 0 dimensions, expected at least 1{{$}}}}
  %0 = pick %x, %i : tensor<f32>, tensor<i32> -> tensor<f32>
  return
}
