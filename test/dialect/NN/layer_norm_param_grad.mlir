// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%d: tensor<2x3x4xf32>, %x: tensor<2x3x4xf32>) {
  // CHECK-NEXT: %layer_norm_param_grad_gain, %layer_norm_param_grad_bias = layer_norm_param_grad %d, %x : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<4xf32>, tensor<4xf32>{{$}}
  %0, %1 = layer_norm_param_grad %d, %x : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<4xf32>, tensor<4xf32>
  return
}

// CHECK-LABEL: nn.block @widened(
nn.block @widened(%d: tensor<2x3xbf16>, %x: tensor<2x3xbf16>) {
  // CHECK-NEXT: layer_norm_param_grad %d, %x : tensor<2x3xbf16>, tensor<2x3xbf16> -> tensor<3xf32>, tensor<3xbf16>{{$}}
  %0, %1 = layer_norm_param_grad %d, %x : tensor<2x3xbf16>, tensor<2x3xbf16> -> tensor<3xf32>, tensor<3xbf16>
  return
}
