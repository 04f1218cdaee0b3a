// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x4x5xf32>) {
  // CHECK-NEXT: %sum_over = sum_over %x dim 2 : tensor<?x3x4x5xf32> -> tensor<?x3x5xf32>{{$}}
  %0 = sum_over %x dim 2 : tensor<?x3x4x5xf32> -> tensor<?x3x5xf32>
  return
}
