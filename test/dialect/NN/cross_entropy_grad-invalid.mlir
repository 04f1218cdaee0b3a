// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%d: tensor<1xf64>, %x: tensor<?x3x7xf32>, %i: tensor<?x4xi64>, %l: tensor<?xf64>) {
  // expected-error-re @+8 {{{{^}}'nn.cross_entropy_grad' op element type of dsum is 'f64', expected 'f32'{{$}}}}
  // expected-error-re @+7 {{{{^}}'nn.cross_entropy_grad' op element type of dlogits is 'f64', expected 'f32' (that of logits){{$}}}}
  // expected-error-re @+6 {{{{^}}'nn.cross_entropy_grad' op element type of labels is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+5 {{{{^}}'nn.cross_entropy_grad' op element type of lse is 'f64', expected 'f32'{{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.cross_entropy_grad' op dsum has 1 dimension, expected none{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.cross_entropy_grad' op dimension 1 of labels is 4, expected 3 (dimension 1 of logits){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.cross_entropy_grad' op lse has 1 dimension, expected 2 (b s){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.cross_entropy_grad' op dimension 2 of dlogits is 8, expected 7 (dimension 2 of logits){{$}}}}
  %0 = cross_entropy_grad %d, %x, %i, %l : tensor<1xf64>, tensor<?x3x7xf32>, tensor<?x4xi64>, tensor<?xf64> -> tensor<?x3x8xf64>
  return
}
