// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// eps is 1e-5 unless said.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x4xf32>, %g: tensor<4xf32>) {
  // CHECK-NEXT: %rms_norm = rms_norm %x, %g : tensor<?x3x4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>{{$}}
  %0 = rms_norm %x, %g : tensor<?x3x4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>
  // CHECK-NEXT: %rms_norm_0 = rms_norm %x, %g eps(1.0e-6) : tensor<?x3x4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>{{$}}
  %1 = rms_norm %x, %g eps(1e-6) : tensor<?x3x4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>
  return
}
