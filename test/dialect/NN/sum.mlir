// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x4xf32>) {
  // CHECK-NEXT: %sum = sum %x : tensor<?x3x4xf32> -> tensor<4xf32>{{$}}
  %0 = sum %x : tensor<?x3x4xf32> -> tensor<4xf32>
  // CHECK-NEXT: %sum_0 = sum %x : tensor<?x3x4xf32> -> tensor<f32>{{$}}
  %1 = sum %x : tensor<?x3x4xf32> -> tensor<f32>
  return
}

// CHECK-LABEL: nn.block @widened(
nn.block @widened(%x: tensor<2x3xbf16>) {
  // CHECK-NEXT: sum %x : tensor<2x3xbf16> -> tensor<3xf32>{{$}}
  %0 = sum %x : tensor<2x3xbf16> -> tensor<3xf32>
  return
}
