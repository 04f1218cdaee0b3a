// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%d: tensor<2x3x4xf32>, %x: tensor<2x3x4xf32>) {
  // expected-error-re @+4 {{{{^}}'nn.layer_norm_param_grad' op element type of dbias is 'bf16', expected 'f32' (that of dy){{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.layer_norm_param_grad' op eps is -2.0, expected more than 0{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.layer_norm_param_grad' op dimension 0 of dgain is 5, expected 4 (dimension 2 of dy){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.layer_norm_param_grad' op dbias has 2 dimensions, expected 1 (h){{$}}}}
  %0, %1 = layer_norm_param_grad %d, %x eps(-2) : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<5xf32>, tensor<1x4xbf16>
  return
}

// -----

nn.block @b(%d: tensor<f32>, %x: tensor<f32>) {
  // expected-error-re @+1 {{{{^}}'nn.layer_norm_param_grad' op x has 0 dimensions, expected at least 1{{$}}}}
  %0, %1 = layer_norm_param_grad %d, %x : tensor<f32>, tensor<f32> -> tensor<f32>, tensor<f32>
  return
}
