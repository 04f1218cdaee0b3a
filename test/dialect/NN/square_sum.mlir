// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<4x2xf32>) {
  // CHECK-NEXT: %square_sum = square_sum %x : tensor<4x2xf32> -> tensor<f32>{{$}}
  %0 = square_sum %x : tensor<4x2xf32> -> tensor<f32>
  return
}
