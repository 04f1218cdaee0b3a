// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x7xf32>, %i: tensor<?x3xi32>) {
  // CHECK-NEXT: %c5_i64 = arith.constant 5 : i64{{$}}
  %o = arith.constant 5 : i64
  // CHECK-NEXT: %pick = pick %x, %i : tensor<?x3x7xf32>, tensor<?x3xi32> -> tensor<?x3xf32>{{$}}
  %0 = pick %x, %i : tensor<?x3x7xf32>, tensor<?x3xi32> -> tensor<?x3xf32>
  // CHECK-NEXT: %pick_0 = pick %x, %i offset %c5_i64 : tensor<?x3x7xf32>, tensor<?x3xi32> -> tensor<?x3xf32>{{$}}
  %1 = pick %x, %i offset %o : tensor<?x3x7xf32>, tensor<?x3xi32> -> tensor<?x3xf32>
  return
}
