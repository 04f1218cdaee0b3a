// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<4x2x3x8xbf16>, %s: tensor<2x6x2xi32>, %t: tensor<2x4x3xi32>, %w: tensor<2x6x2xf32>) {
  // CHECK-NEXT: %combine = combine %x by %s, %t : tensor<4x2x3x8xbf16>, tensor<2x6x2xi32>, tensor<2x4x3xi32> -> tensor<2x6x8xbf16>{{$}}
  %0 = combine %x by %s, %t : tensor<4x2x3x8xbf16>, tensor<2x6x2xi32>, tensor<2x4x3xi32> -> tensor<2x6x8xbf16>
  // CHECK-NEXT: combine %x by %s, %t weighted %w : tensor<4x2x3x8xbf16>, tensor<2x6x2xi32>, tensor<2x4x3xi32>, tensor<2x6x2xf32> -> tensor<2x6x8xbf16>{{$}}
  %1 = combine %x by %s, %t weighted %w : tensor<4x2x3x8xbf16>, tensor<2x6x2xi32>, tensor<2x4x3xi32>, tensor<2x6x2xf32> -> tensor<2x6x8xbf16>
  return
}
