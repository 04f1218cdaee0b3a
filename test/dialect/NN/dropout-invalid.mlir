// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x5x6xf32>, %p: tensor<?x4xi64>) {
  // expected-error-re @+4 {{{{^}}'nn.dropout' op element type of y is 'bf16', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.dropout' op element type of positions is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.dropout' op rate is 1.0, expected at least 0 and less than 1{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.dropout' op dimension 1 of positions is 4, expected 5 (dimension 1 of x){{$}}}}
  %0 = dropout %x at %p rate(1) : tensor<?x5x6xf32>, tensor<?x4xi64> -> tensor<?x5x6xbf16>
  return
}

// -----

nn.block @b(%x: tensor<5xf32>, %p: tensor<5x1xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.dropout' op x has 1 dimension, expected at least 2{{$}}}}
  %0 = dropout %x at %p rate(0.5) : tensor<5xf32>, tensor<5x1xi32> -> tensor<5xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x5x6xf32>, %p: tensor<2x5xi32>, %d: tensor<2xi64>) {
  // expected-error-re @+3 {{{{^}}'nn.dropout' op element type of draws is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.dropout' op has draws but no stream that tells it from other dropouts{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.dropout' op is of 4 elements in dimension 2, but x has 6{{$}}}}
  %0 = dropout %x at %p rate(0.5) draws %d of [4] : tensor<2x5x6xf32>, tensor<2x5xi32>, tensor<2xi64> -> tensor<2x5x6xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x5x6xf32>, %p: tensor<2x5xi32>, %d: tensor<2xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.dropout' op has 2 extents, expected 1: one for each dimension of x behind the first two{{$}}}}
  %0 = dropout %x at %p rate(0.5) draws %d of [6, 1] stream "a" : tensor<2x5x6xf32>, tensor<2x5xi32>, tensor<2xi32> -> tensor<2x5x6xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x5x6xf32>, %p: tensor<2x5xi32>, %d: tensor<2xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.dropout' op has 8.0e9 features a token, expected at most 2^32{{$}}}}
  %1 = dropout %x at %p rate(0.5) draws %d of [8000000000] stream "a" : tensor<2x5x6xf32>, tensor<2x5xi32>, tensor<2xi32> -> tensor<2x5x6xf32>
  return
}

// -----

nn.block @b(%x: tensor<2x5x6xf32>, %p: tensor<2x5xi32>, %d: tensor<2xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.dropout' op has a stream, extents or offsets but no draws{{$}}}}
  %2 = dropout %x at %p rate(0.5) stream "a" : tensor<2x5x6xf32>, tensor<2x5xi32> -> tensor<2x5x6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x5x6xf32>, %p: tensor<2x5xi32>, %d: tensor<2xi32>, %o: i64) {
  // expected-error-re @+3 {{{{^}}'nn.dropout' op has a stream and the number of one; only one of both{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.dropout' op has an offset in dimension 1 of x, expected 2 to 2{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.dropout' op has two offsets in dimension 2 of x{{$}}}}
  %0 = nn.dropout %x at %p rate(0.5) draws %d of [6] stream "a" number %o offsets %o, %o, %o dims [1, 2, 2] : tensor<2x5x6xf32>, tensor<2x5xi32>, tensor<2xi32> -> tensor<2x5x6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x5x6xf32>, %p: tensor<2x5xi32>, %d: tensor<2xi32>, %o: i64) {
  // expected-error-re @+2 {{{{^}}'nn.dropout' op has 1 offsets for 2 dimensions{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.dropout' op has two offsets in dimension 2 of x{{$}}}}
  %1 = nn.dropout %x at %p rate(0.5) draws %d of [6] stream "a" offsets %o dims [2, 2] : tensor<2x5x6xf32>, tensor<2x5xi32>, tensor<2xi32> -> tensor<2x5x6xf32>
  return
}
