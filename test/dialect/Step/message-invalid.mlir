// RUN: hocket-opt %s --verify-diagnostics --split-input-file

// C1
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
  %a = buffer communication "a" in slot : memref<4xf32>
  // expected-error-re @+1 {{{{^}}'step.message' op goes from stage 1 to itself{{$}}}}
  message activation from 1 to 1 carries %a because "x" : memref<4xf32>
}

// -----

// C1
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
  %a = buffer communication "a" in slot : memref<4xf32>
  // expected-error-re @+1 {{{{^}}'step.message' op stage -1, expected 0 to 4294967295{{$}}}}
  message activation from -1 to 1 carries %a because "x" : memref<4xf32>
}

// -----

// C1
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
  %a = buffer communication "a" in slot : memref<4xf32>
  // expected-error-re @+1 {{{{^}}'step.message' op chunk 7281, expected 0 to 7280{{$}}}}
  message activation from 0 to 1 chunk 7281 carries %a because "x" : memref<4xf32>
}

// -----

// C2
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
  // expected-error-re @+1 {{{{^}}'step.message' op carries no buffer{{$}}}}
  "step.message"() <{values = 0 : i32, from = 0 : i64, to = 1 : i64, cause = "x"}> : () -> ()
}
