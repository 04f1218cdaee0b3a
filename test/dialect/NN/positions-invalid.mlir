// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b() {
  // expected-error-re @+1 {{{{^}}'nn.positions' op element type of y is 'i64', expected 'i32'{{$}}}}
  %0 = positions : tensor<2x5xi64>
  return
}

// -----

nn.block @b() {
  // expected-error-re @+1 {{{{^}}'nn.positions' op y has 1 dimension, expected 2 (b s){{$}}}}
  %0 = positions : tensor<5xi32>
  return
}

// -----

nn.block @b() {
  %o = arith.constant 5 : i64
  // expected-error-re @+2 {{{{^}}'nn.positions' op element type of y is 'f32', expected 'i32'{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.positions' op y has 3 dimensions, expected 2 (b s){{$}}}}
  %0 = positions offset %o : tensor<2x5x1xf32>
  return
}

// -----

nn.block @b() {
  // expected-error-re @+1 {{{{^}}'nn.positions' op is in zigzag of 6 tokens over 2 ranks, expected a multiple of 4 tokens{{$}}}}
  %0 = positions zigzag 2 of 6 : tensor<2x6xi32>
  return
}

// -----

nn.block @b() {
  // expected-error-re @+1 {{{{^}}'nn.positions' op is in zigzag over 0 ranks, expected at least 1{{$}}}}
  %1 = positions zigzag 0 of 6 : tensor<2x6xi32>
  return
}
