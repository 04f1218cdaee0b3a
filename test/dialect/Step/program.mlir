// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @m<"pp"=2>
dist.plan @p for @g on @m {
  batch microbatch 1 sequences
  stages over "pp" schedule "1f1b"
}
// CHECK: step.program @planned under @p stage 0 computes ["wte", "h.0", "h.1"] microbatches 16 arena 81920 slots 4 of 16384 at 16384 {
step.program @planned under @p stage 0 computes ["wte", "h.0", "h.1"] microbatches 16 arena 81920 slots 4 of 16384 at 16384 {
  // CHECK-NEXT: %w = buffer parameter "w" in arena offset 0 : memref<4xf32>
  %w = buffer parameter "w" in arena offset 0 : memref<4xf32>
}
// CHECK: step.program @hosted under @p stage 0 computes [] microbatches 16 arena 81920 slots 4 of 16384 at 16384 host 5120 slots of 1024 at 1024 {
step.program @hosted under @p stage 0 computes [] microbatches 16 arena 81920 slots 4 of 16384 at 16384 host 5120 slots of 1024 at 1024 {
  // CHECK-NEXT: %w.m = buffer optimizer_state "w.m" in host offset 0 : memref<4xf32>
  %w.m = buffer optimizer_state "w.m" in host offset 0 : memref<4xf32>
  // CHECK-NEXT: %h = buffer activation "h" in host_slot offset 0 : memref<4xf32>
  %h = buffer activation "h" in host_slot offset 0 : memref<4xf32>
}
// CHECK: step.program @open under @p stage 1 computes [] microbatches 1 {
step.program @open under @p stage 1 computes [] microbatches 1 {
}
