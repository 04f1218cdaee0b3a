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
step.program @s under @p stage 0 computes ["h.0"] microbatches 2 {
  // CHECK: schedule "train" <streams "compute", "send_next", "receive_next" messages activation from 0 to 1, gradient from 1 to 0 {
  // CHECK-NEXT: compute: begin
  // CHECK-NEXT: compute: forward microbatch 0 slot 0
  // CHECK-NEXT: send_next: send activation to 1 microbatch 0 slot 0 after compute 2
  // CHECK-NEXT: receive_next: receive gradient from 1 microbatch 0 slot 0 after compute 2, send_next 1
  // CHECK-NEXT: compute: backward microbatch 0 slot 0 after receive_next 1
  // CHECK-NEXT: compute: update
  // CHECK-NEXT: }>
  schedule "train" <streams "compute", "send_next", "receive_next" messages activation from 0 to 1, gradient from 1 to 0 {
    compute: begin
    compute: forward microbatch 0 slot 0
    send_next: send activation to 1 microbatch 0 slot 0 after compute 2
    receive_next: receive gradient from 1 microbatch 0 slot 0 after compute 2, send_next 1
    compute: backward microbatch 0 slot 0 after receive_next 1
    compute: update
  }>
}
