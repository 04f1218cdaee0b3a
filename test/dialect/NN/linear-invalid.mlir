// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<2x3x4xf32>, %w: tensor<5x8xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.linear' op dimension 0 of w is 5, expected 4 (dimension 2 of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.linear' op dimension 1 of y is 6, expected 3 (dimension 1 of x){{$}}}}
  %0 = linear %x, %w : tensor<2x3x4xf32>, tensor<5x8xf32> -> tensor<2x6x8xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x3x4xf32>, %w: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.linear' op x of rank 3, w of rank 2 and y of rank 2 contract (3 + 2 - 2) / 2 dimensions, expected a whole number, at least 1 and at most 2{{$}}}}
  %0 = linear %x, %w : tensor<2x3x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x3x4xf32>, %w: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.linear' op x of rank 3, w of rank 2 and y of rank 5 contract (3 + 2 - 5) / 2 dimensions, expected a whole number, at least 1 and at most 2{{$}}}}
  %0 = linear %x, %w : tensor<2x3x4xf32>, tensor<4x8xf32> -> tensor<2x3x4x4x8xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.linear' op x of rank 3, w of rank 1 and y of rank 0 contract (3 + 1 - 0) / 2 dimensions, expected a whole number, at least 1 and at most 1{{$}}}}
  %0 = linear %x, %w : tensor<2x3x4xf32>, tensor<4xf32> -> tensor<f32>
  return
}

// -----

nn.block @b(%x: tensor<2x3x4xi32>, %w: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.linear' op element type of x is 'i32', expected a float type{{$}}}}
  %0 = linear %x, %w : tensor<2x3x4xi32>, tensor<4x8xf32> -> tensor<2x3x8xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x3x4xbf16>, %w: tensor<4x8xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.linear' op element type of w is 'f32', expected 'bf16' (that of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.linear' op element type of y is 'f16', expected 'bf16' (that of x) or 'f32'{{$}}}}
  %0 = linear %x, %w : tensor<2x3x4xbf16>, tensor<4x8xf32> -> tensor<2x3x8xf16>
  return
}

// -----

nn.block @b(%x: tensor<2x3x4xf32>, %w: tensor<7x4x1xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.linear' op w has 3 dimensions, expected 2{{$}}}}
  %0 = linear transposed %x, %w : tensor<2x3x4xf32>, tensor<7x4x1xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%x: tensor<f32>, %w: tensor<4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.linear' op x has 0 dimensions, expected at least 1{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.linear' op w has 1 dimension, expected 2{{$}}}}
  %0 = linear transposed %x, %w : tensor<f32>, tensor<4xf32> -> tensor<f32>
  return
}

// -----

nn.block @b(%x: tensor<2x3x4xf32>, %w: tensor<7x4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.linear' op y has 2 dimensions, expected 3 (the rank of x){{$}}}}
  %0 = linear transposed %x, %w : tensor<2x3x4xf32>, tensor<7x4xf32> -> tensor<2x7xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x3x4xf32>, %w: tensor<4x7xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.linear' op dimension 1 of w is 7, expected 4 (dimension 2 of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.linear' op dimension 2 of y is 7, expected 4 (dimension 0 of w){{$}}}}
  %0 = linear transposed %x, %w : tensor<2x3x4xf32>, tensor<4x7xf32> -> tensor<2x3x7xf32>
  return
}
