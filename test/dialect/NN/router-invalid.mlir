// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%l: tensor<?x6x4xf32>, %p: tensor<?x7xi64>) {
  // expected-error-re @+8 {{{{^}}'nn.router' op element type of positions is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+7 {{{{^}}'nn.router' op element type of load is 'f64', expected 'f32'{{$}}}}
  // expected-error-re @+6 {{{{^}}'nn.router' op dimension 1 of positions is 7, expected 6 (dimension 1 of logits){{$}}}}
  // expected-error-re @+5 {{{{^}}'nn.router' op dimension 1 of tokens is 5, expected 4 (dimension 2 of logits){{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.router' op top is 5, expected 1 to 4, the number of experts{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.router' op dimension 2 of weights is 2, expected 5 (top){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.router' op dimension 2 of tokens is 0, expected at least 1, the tokens of a sequence that an expert takes{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.router' op scale is 0.0, expected above 0{{$}}}}
  %w, %s, %t, %b = router %l at %p top 5 scale(0) : tensor<?x6x4xf32>, tensor<?x7xi64> -> tensor<?x6x2xf32>, tensor<?x6x2xi32>, tensor<?x5x0xi32>, tensor<?xf64>
  return
}

// -----

nn.block @b(%l: tensor<?x6x4xf32>, %p: tensor<?x6xi32>) {
  // expected-error-re @+1 {{{{^}}'nn.router' op balance is -1.0, expected at least 0{{$}}}}
  %w, %s, %t, %b = router %l at %p top 2 balance(-1) : tensor<?x6x4xf32>, tensor<?x6xi32> -> tensor<?x6x2xf32>, tensor<?x6x2xi32>, tensor<?x4x3xi32>, tensor<?xf32>
  return
}
