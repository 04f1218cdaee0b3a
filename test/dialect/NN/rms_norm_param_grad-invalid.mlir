// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%d: tensor<2x3x4xf32>, %x: tensor<2x3x4xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.rms_norm_param_grad' op eps is -2.0, expected more than 0{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.rms_norm_param_grad' op dgain has 2 dimensions, expected 1 (h){{$}}}}
  %0 = rms_norm_param_grad %d, %x eps(-2) : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<3x5xf32>
  return
}
