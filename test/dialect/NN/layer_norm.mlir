// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// eps is 1e-5 unless said.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) {
  // CHECK-NEXT: %layer_norm = layer_norm %x, %g, %b : tensor<?x3x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>{{$}}
  %0 = layer_norm %x, %g, %b : tensor<?x3x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>
  // CHECK-NEXT: %layer_norm_0 = layer_norm %x, %g, %b eps(1.0e-6) : tensor<?x3x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>{{$}}
  %1 = layer_norm %x, %g, %b eps(1e-6) : tensor<?x3x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>
  return
}
