// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<4x2x3x8xbf16>, %d: tensor<2x6x8xbf16>, %s: tensor<2x6x2xi32>) {
  // CHECK-NEXT: %combine_grad = combine_grad %x, %d by %s : tensor<4x2x3x8xbf16>, tensor<2x6x8xbf16>, tensor<2x6x2xi32> -> tensor<2x6x2xf32>{{$}}
  %0 = combine_grad %x, %d by %s : tensor<4x2x3x8xbf16>, tensor<2x6x8xbf16>, tensor<2x6x2xi32> -> tensor<2x6x2xf32>
  return
}
