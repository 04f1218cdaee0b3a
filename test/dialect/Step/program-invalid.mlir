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
// expected-error-re @+2 {{{{^}}'step.program' op stage is -1, expected at least 0{{$}}}}
// expected-error-re @+1 {{{{^}}'step.program' op microbatches is 0, expected at least 1{{$}}}}
step.program @s under @p stage -1 computes [] microbatches 0 {
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
// expected-error-re @+2 {{{{^}}'step.program' op size of the arena is -64, expected at least 0{{$}}}}
// expected-error-re @+1 {{{{^}}'step.program' op number of slots is -1, expected at least 0{{$}}}}
step.program @s under @p stage 0 computes [] microbatches 1 arena -64 slots -1 of 64 at 0 {
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
// expected-error-re @+1 {{{{^}}'step.program' op has a plan of its arena, and none of its slots{{$}}}}
step.program @s under @p stage 0 computes [] microbatches 1 arena 64 {
}

// -----

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
// expected-error-re @+1 {{{{^}}'step.program' op unknown plan @q{{$}}}}
step.program @s under @q stage 0 computes [] microbatches 1 {
}
