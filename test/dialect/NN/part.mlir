// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x7x3xf32>) {
  // CHECK-NEXT: %part = part %x dim 1 from 2 : tensor<?x7x3xf32> -> tensor<?x4x3xf32>{{$}}
  %0 = part %x dim 1 from 2 : tensor<?x7x3xf32> -> tensor<?x4x3xf32>
  return
}
