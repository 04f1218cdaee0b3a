// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// The offset is that of a shard of the rows.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%i: tensor<?x3xi32>, %t: tensor<7x4xf32>) {
  // CHECK-NEXT: %c5_i64 = arith.constant 5 : i64{{$}}
  %o = arith.constant 5 : i64
  // CHECK-NEXT: %embedding = embedding %i, %t : tensor<?x3xi32>, tensor<7x4xf32> -> tensor<?x3x4xf32>{{$}}
  %0 = embedding %i, %t : tensor<?x3xi32>, tensor<7x4xf32> -> tensor<?x3x4xf32>
  // CHECK-NEXT: %embedding_0 = embedding %i, %t offset %c5_i64 : tensor<?x3xi32>, tensor<7x4xf32> -> tensor<?x3x4xf32>{{$}}
  %1 = embedding %i, %t offset %o : tensor<?x3xi32>, tensor<7x4xf32> -> tensor<?x3x4xf32>
  return
}
