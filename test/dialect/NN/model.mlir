// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  // CHECK-NEXT: %wte = param "wte"
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  // CHECK-NEXT: %wte_0 = embedding %tokens, %wte
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  // CHECK-NEXT: %wte_1 = linear transposed %wte_0, %wte
  %l = linear transposed %e, %w : tensor<?x4x8xf32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  // CHECK-NEXT: %cross_entropy_sum, %cross_entropy_count = cross_entropy %wte_1, %next
  %sum, %count = cross_entropy %l, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  // CHECK-NEXT: return %cross_entropy_sum, %cross_entropy_count
  return %sum, %count : tensor<f32>, tensor<i64>
}
