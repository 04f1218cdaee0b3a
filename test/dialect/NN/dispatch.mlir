// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x6x8xbf16>, %s: tensor<?x6x2xi32>, %t: tensor<?x4x3xi32>, %w: tensor<?x6x2xf32>) {
  // CHECK-NEXT: %dispatch = dispatch %x by %s, %t : tensor<?x6x8xbf16>, tensor<?x6x2xi32>, tensor<?x4x3xi32> -> tensor<4x?x3x8xbf16>{{$}}
  %0 = dispatch %x by %s, %t : tensor<?x6x8xbf16>, tensor<?x6x2xi32>, tensor<?x4x3xi32> -> tensor<4x?x3x8xbf16>
  // CHECK-NEXT: dispatch %x by %s, %t weighted %w : tensor<?x6x8xbf16>, tensor<?x6x2xi32>, tensor<?x4x3xi32>, tensor<?x6x2xf32> -> tensor<4x?x3x8xbf16>{{$}}
  %1 = dispatch %x by %s, %t weighted %w : tensor<?x6x8xbf16>, tensor<?x6x2xi32>, tensor<?x4x3xi32>, tensor<?x6x2xf32> -> tensor<4x?x3x8xbf16>
  return
}
