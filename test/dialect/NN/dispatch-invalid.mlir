// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x6x8xf32>, %s: tensor<?x5x2xi32>, %t: tensor<?x4x3xi64>, %w: tensor<?x6x2xbf16>) {
  // expected-error-re @+6 {{{{^}}'nn.dispatch' op element type of tokens is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+5 {{{{^}}'nn.dispatch' op element type of weights is 'bf16', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.dispatch' op dimension 1 of slots is 5, expected 6 (dimension 1 of x){{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.dispatch' op dimension 2 of y is 2, expected 3 (dimension 2 of tokens){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.dispatch' op dimension 3 of y is 9, expected 8 (dimension 2 of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.dispatch' op element type of y is 'bf16', expected 'f32' (that of x){{$}}}}
  %0 = dispatch %x by %s, %t weighted %w : tensor<?x6x8xf32>, tensor<?x5x2xi32>, tensor<?x4x3xi64>, tensor<?x6x2xbf16> -> tensor<4x?x2x9xbf16>
  return
}

// -----

nn.block @b(%x: tensor<?x6x8xf32>, %s: tensor<?x6x2xi32>, %t: tensor<?x4x3xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.dispatch' op dimension 0 of y is 5, expected 4, the experts of tokens{{$}}}}
  %0 = dispatch %x by %s, %t : tensor<?x6x8xf32>, tensor<?x6x2xi32>, tensor<?x4x3xi32> -> tensor<5x?x3x8xf32>
  return
}
