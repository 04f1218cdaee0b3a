// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%d: tensor<2x3x5xf32>, %x: tensor<2x3x4xf32>, %g: tensor<4xf32>) {
  // expected-error-re @+4 {{{{^}}'nn.layer_norm_grad' op eps is 0.0, expected more than 0{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.layer_norm_grad' op dimension 2 of x is 4, expected 5 (dimension 2 of dy){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.layer_norm_grad' op dimension 0 of gain is 4, expected 5 (dimension 2 of dy){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.layer_norm_grad' op dx has 2 dimensions, expected 3 (b s h){{$}}}}
  %0 = layer_norm_grad %d, %x, %g eps(0) : tensor<2x3x5xf32>, tensor<2x3x4xf32>, tensor<4xf32> -> tensor<2x3xf32>
  return
}

// -----

nn.block @b(%d: tensor<2x3x4xf32>, %x: tensor<2x3x4xf64>, %g: tensor<4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.layer_norm_grad' op element type of x is 'f64', expected 'f32' (that of dy){{$}}}}
  %0 = layer_norm_grad %d, %x, %g : tensor<2x3x4xf32>, tensor<2x3x4xf64>, tensor<4xf32> -> tensor<2x3x4xf32>
  return
}
