// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// The log-sum-exp is kept in training.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x7xf32>, %i: tensor<?x3xi32>) {
  // CHECK-NEXT: %cross_entropy_sum, %cross_entropy_count = cross_entropy %x, %i : tensor<?x3x7xf32>, tensor<?x3xi32> -> tensor<f32>, tensor<i64>{{$}}
  %0, %1 = cross_entropy %x, %i : tensor<?x3x7xf32>, tensor<?x3xi32> -> tensor<f32>, tensor<i64>
  // CHECK-NEXT: %cross_entropy_sum_0, %cross_entropy_count_1, %cross_entropy_lse = cross_entropy %x, %i : tensor<?x3x7xf32>, tensor<?x3xi32> -> tensor<f32>, tensor<i64>, tensor<?x3xf32>{{$}}
  %2, %3, %4 = cross_entropy %x, %i : tensor<?x3x7xf32>, tensor<?x3xi32> -> tensor<f32>, tensor<i64>, tensor<?x3xf32>
  return
}
