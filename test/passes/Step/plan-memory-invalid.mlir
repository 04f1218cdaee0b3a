// RUN: hocket-opt %s --step-plan-memory --verify-diagnostics --split-input-file

nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @m<"dp"=2>
dist.plan @p for @g on @m {
  batch over "dp" microbatch 1 sequences
}
func.func private @k_sum(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> attributes {hocket.in_place = array<i64: 0, 0>}
func.func private @k_one(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func private @k_make() -> tensor<4x4xf32>
func.func private @k_part(tensor<4x4xf32>, i64) -> tensor<2x4xf32>
func.func private @k_half(tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> attributes {hocket.in_place = array<i64: 0, 0>}
func.func private @k_pair(tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {hocket.in_place = array<i64: 0, 0, 1, 0>}
step.program @unfused under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %a = load %p : memref<4x4xf32> -> tensor<4x4xf32>
    // expected-error-re @+1 {{{{^}}'nn.gelu' op is in no kernel; run codegen-fuse first{{$}}}}
    %b = nn.gelu %a : tensor<4x4xf32> -> tensor<4x4xf32>
    store %b, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
}
