// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<2x4xf32>, %g: tensor<4xf32>) -> tensor<2x4xf32> {
  // expected-error-re @+1 {{{{^}}custom op 'nn.layer_norm' has types for 2 operands, expected 1 or 3{{$}}}}
  %n = layer_norm %x, %g, %g : tensor<2x4xf32>, tensor<4xf32>
}

// -----

nn.block @b(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error-re @+1 {{{{^}}custom op 'nn.gelu' has types for 2 results, expected 1{{$}}}}
  %n = gelu %x : tensor<2x4xf32> -> tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

nn.block @b(%x: tensor<f32>) -> tensor<f32> {
  // expected-error-re @+1 {{{{^}}custom op 'nn.rms_norm' normalises the last dimension, which 'tensor<f32>' has not{{$}}}}
  %n = rms_norm %x, %x : tensor<f32>
}

// -----

nn.block @b(%x: tensor<2x4x8xf32>, %l: tensor<2x4xi32>) -> tensor<f32> {
  // expected-error-re @+1 {{{{^}}custom op 'nn.cross_entropy' has types for 1 results, expected 2 or 3: the loss sum, the count and the log-sum-exp{{$}}}}
  %s = cross_entropy %x, %l : tensor<2x4x8xf32>, tensor<2x4xi32> -> tensor<f32>
}
