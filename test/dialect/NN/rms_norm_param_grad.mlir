// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%d: tensor<2x3x4xf32>, %x: tensor<2x3x4xf32>) {
  // CHECK-NEXT: %rms_norm_param_grad = rms_norm_param_grad %d, %x : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<4xf32>{{$}}
  %0 = rms_norm_param_grad %d, %x : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<4xf32>
  return
}

// CHECK-LABEL: nn.block @widened(
nn.block @widened(%d: tensor<2x3xbf16>, %x: tensor<2x3xbf16>) {
  // CHECK-NEXT: rms_norm_param_grad %d, %x : tensor<2x3xbf16>, tensor<2x3xbf16> -> tensor<3xf32>{{$}}
  %0 = rms_norm_param_grad %d, %x : tensor<2x3xbf16>, tensor<2x3xbf16> -> tensor<3xf32>
  return
}
