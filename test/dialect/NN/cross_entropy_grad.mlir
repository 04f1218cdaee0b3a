// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%d: tensor<f32>, %x: tensor<?x3x7xf32>, %i: tensor<?x3xi32>, %l: tensor<?x3xf32>) {
  // CHECK-NEXT: %c5_i64 = arith.constant 5 : i64{{$}}
  %o = arith.constant 5 : i64
  // CHECK-NEXT: %cross_entropy_grad = cross_entropy_grad %d, %x, %i, %l : tensor<f32>, tensor<?x3x7xf32>, tensor<?x3xi32>, tensor<?x3xf32> -> tensor<?x3x7xf32>{{$}}
  %0 = cross_entropy_grad %d, %x, %i, %l : tensor<f32>, tensor<?x3x7xf32>, tensor<?x3xi32>, tensor<?x3xf32> -> tensor<?x3x7xf32>
  // CHECK-NEXT: %cross_entropy_grad_0 = cross_entropy_grad %d, %x, %i, %l offset %c5_i64 : tensor<f32>, tensor<?x3x7xf32>, tensor<?x3xi32>, tensor<?x3xf32> -> tensor<?x3x7xf32>{{$}}
  %1 = cross_entropy_grad %d, %x, %i, %l offset %o : tensor<f32>, tensor<?x3x7xf32>, tensor<?x3xi32>, tensor<?x3xf32> -> tensor<?x3x7xf32>
  return
}
