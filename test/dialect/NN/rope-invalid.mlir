// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x5x3x6xf32>, %p: tensor<?x4xi64>) {
  // expected-error-re @+5 {{{{^}}'nn.rope' op element type of positions is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.rope' op theta is 0.0, expected more than 0{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.rope' op dimension 1 of positions is 4, expected 5 (dimension 1 of x){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.rope' op dimension 3 of y is 8, expected 6 (dimension 3 of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.rope' op dims is 3, expected an even number from 2 to 6 (the last dimension of x){{$}}}}
  %0 = rope %x at %p theta(0) dims(3) : tensor<?x5x3x6xf32>, tensor<?x4xi64> -> tensor<?x5x3x8xf32>
  return
}

// -----

nn.block @b(%x: tensor<?x5x3x6xf32>, %p: tensor<?x5xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.rope' op dims is 8, expected an even number from 2 to 6 (the last dimension of x){{$}}}}
  %0 = rope %x at %p dims(8) : tensor<?x5x3x6xf32>, tensor<?x5xi32> -> tensor<?x5x3x6xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x5x3xf32>, %p: tensor<2x5xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.rope' op the last dimension of x is 3, expected an even number (or 'dims'){{$}}}}
  %0 = rope %x at %p : tensor<2x5x3xf32>, tensor<2x5xi32> -> tensor<2x5x3xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x5xf32>, %p: tensor<2x5xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.rope' op x has 2 dimensions, expected at least 3{{$}}}}
  %0 = rope %x at %p : tensor<2x5xf32>, tensor<2x5xi32> -> tensor<2x5xf32>
  return
}

// -----

nn.block @b(%x: tensor<?x5x3x6xf32>, %p: tensor<?x5xi32>) {
  // expected-error-re @+1 {{{{^}}custom op 'nn.rope' rope has no argument 'base' (known: theta, dims, interleaved, position_scale){{$}}}}
  %0 = rope %x at %p base(10000.0) : tensor<?x5x3x6xf32>, tensor<?x5xi32> -> tensor<?x5x3x6xf32>
  return
}

// -----

nn.block @b(%x: tensor<?x5x3x6xf32>, %p: tensor<?x5xi32>) {
  // expected-error-re @+1 {{{{^}}custom op 'nn.rope' rope has 'dims' twice{{$}}}}
  %0 = rope %x at %p dims(4) dims(2) : tensor<?x5x3x6xf32>, tensor<?x5xi32> -> tensor<?x5x3x6xf32>
  return
}
