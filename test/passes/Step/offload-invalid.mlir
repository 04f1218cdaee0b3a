// RUN: hocket-opt %s --step-offload --verify-diagnostics --split-input-file
nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<4x4xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<4x4xf32> -> tensor<?x4x4xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x4xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @m<"dp"=1>
dist.plan @p for @g on @m {
  batch over "dp" microbatch 1 sequences
  // expected-warning-re @+1 {{{{^}}`offload activations h.*` moves nothing to the host: the largest of 2 values that it names has 1024 bytes on a rank, expected at least 65536 (less is not worth a copy){{$}}}}
  offload activations "h.*"
  // expected-warning-re @+1 {{{{^}}`offload activations g.*` moves nothing to the host: nothing that it names is kept from forward to backward on one stage{{$}}}}
  offload activations "g.*"
  // expected-warning-re @+1 {{{{^}}`offload parameters v` moves nothing to the host: no rank holds what it names{{$}}}}
  offload parameters "v"
}
func.func private @k_zero() -> tensor<16xf32>
func.func private @k_more() -> tensor<16x16xf32>
step.program @s under @p stage 0 computes ["h.0", "h.1"] microbatches 1 {
  %w = buffer parameter "w" in arena state param init zeros : memref<4x4xf32>
  %a = buffer activation "a" in slot : memref<16xf32>
  %b = buffer activation "b" in slot : memref<16x16xf32>
  body forward {
    %x = launch @k_zero() : () -> (tensor<16xf32>) in "h.0"
    store %x, %a : tensor<16xf32>, memref<16xf32>
    %y = launch @k_more() : () -> (tensor<16x16xf32>) in "h.1"
    store %y, %b : tensor<16x16xf32>, memref<16x16xf32>
  }
}
