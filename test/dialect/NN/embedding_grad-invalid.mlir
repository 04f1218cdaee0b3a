// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%i: tensor<2x3xf32>, %d: tensor<2x3x4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.embedding_grad' op element type of ids is 'f32', expected 'i32'{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.embedding_grad' op element type of dtable is 'f64', expected 'f32' (that of dy){{$}}}}
  %0 = embedding_grad %i, %d : tensor<2x3xf32>, tensor<2x3x4xf32> -> tensor<7x4xf64>
  return
}

// -----

nn.block @b(%i: tensor<2x3xi32>, %d: tensor<2x5x4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.embedding_grad' op dimension 1 of dy is 5, expected 3 (dimension 1 of ids){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.embedding_grad' op dimension 1 of dtable is 6, expected 4 (dimension 2 of dy){{$}}}}
  %0 = embedding_grad %i, %d : tensor<2x3xi32>, tensor<2x5x4xf32> -> tensor<7x6xf32>
  return
}
