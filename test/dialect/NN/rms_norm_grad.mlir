// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%d: tensor<2x3x4xf32>, %x: tensor<2x3x4xf32>, %g: tensor<4xf32>) {
  // CHECK-NEXT: %rms_norm_grad = rms_norm_grad %d, %x, %g eps(1.0e-6) : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32> -> tensor<2x3x4xf32>{{$}}
  %0 = rms_norm_grad %d, %x, %g eps(1e-6) : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<4xf32> -> tensor<2x3x4xf32>
  return
}
