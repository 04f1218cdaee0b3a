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
  // CHECK: body forward {
  body forward {
  }
  // CHECK: body weight_grad chunk 1 {
  body weight_grad chunk 1 {
  }
}
