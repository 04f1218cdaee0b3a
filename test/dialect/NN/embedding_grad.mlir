// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%i: tensor<2x3xi32>, %d: tensor<2x3x4xf32>) {
  // CHECK-NEXT: %c5_i64 = arith.constant 5 : i64{{$}}
  %o = arith.constant 5 : i64
  // CHECK-NEXT: %embedding_grad = embedding_grad %i, %d : tensor<2x3xi32>, tensor<2x3x4xf32> -> tensor<7x4xf32>{{$}}
  %0 = embedding_grad %i, %d : tensor<2x3xi32>, tensor<2x3x4xf32> -> tensor<7x4xf32>
  // CHECK-NEXT: %embedding_grad_0 = embedding_grad %i, %d offset %c5_i64 : tensor<2x3xi32>, tensor<2x3x4xf32> -> tensor<4x4xf32>{{$}}
  %1 = embedding_grad %i, %d offset %o : tensor<2x3xi32>, tensor<2x3x4xf32> -> tensor<4x4xf32>
  return
}

// CHECK-LABEL: nn.block @widened(
nn.block @widened(%i: tensor<2x3xi32>, %d: tensor<2x3x4xbf16>) {
  // CHECK-NEXT: embedding_grad %i, %d : tensor<2x3xi32>, tensor<2x3x4xbf16> -> tensor<7x4xf32>{{$}}
  %0 = embedding_grad %i, %d : tensor<2x3xi32>, tensor<2x3x4xbf16> -> tensor<7x4xf32>
  return
}
