// RUN: hocket-opt %s --dist-to-step --verify-diagnostics --split-input-file

// The backward of an op outside of layers that needs forward values of two stages.
nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
nn.recipe @r for @g {
  batch 2 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(1.0e-3)
}
dist.mesh @m<"pp"=2>
dist.plan @p for @g on @m {
  batch microbatch 1 sequences
  stages over "pp" schedule "1f1b"
}
nn.training_step @train of @g with @r under @p microbatches 2 slots {
  slot param "w" : tensor<8xf32> init zeros
  slot param "v" : tensor<8xf32> init zeros
} begin {
} microbatch {
  %w = read param "w" : tensor<8xf32> in "h.0" forward
  %v = read param "v" : tensor<8xf32> in "h.1" forward
  // expected-note-re @+1 {{{{^}}made on stage 0{{$}}}}
  %a = gelu %w : tensor<8xf32> -> tensor<8xf32> in "h.0" forward
  // expected-note-re @+1 {{{{^}}made on stage 1{{$}}}}
  %b = mul %a, %v : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> in "h.1" forward
  // expected-error-re @+1 {{{{^}}uses forward values of stages 0 and 1; the backward of one op must lie on one stage{{$}}}}
  %c = mul %a, %b : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> backward
} update {
} evaluate {
}

// -----

// A forward value cannot go back.
nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
nn.recipe @r for @g {
  batch 2 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(1.0e-3)
}
dist.mesh @m<"pp"=2>
dist.plan @p for @g on @m {
  batch microbatch 1 sequences
  stages over "pp" schedule "1f1b"
}
nn.training_step @train of @g with @r under @p microbatches 2 slots {
  slot param "w" : tensor<8xf32> init zeros
  slot param "v" : tensor<8xf32> init zeros
} begin {
} microbatch {
  %w = read param "w" : tensor<8xf32> in "h.0" forward
  %v = read param "v" : tensor<8xf32> in "h.1" forward
  %a = gelu %w : tensor<8xf32> -> tensor<8xf32> in "h.0" forward
  // expected-note-re @+1 {{{{^}}made here{{$}}}}
  %b = mul %a, %v : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> in "h.1" forward
  // expected-error-re @+1 {{{{^}}on stage 0 uses a value of stage 1; forward values go to later stages only{{$}}}}
  %c = mul %b, %w : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> in "h.0" forward
} update {
} evaluate {
}

// -----

// Update: an op that is no sum joins what different stages know.
nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
nn.recipe @r for @g {
  batch 2 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(1.0e-3)
}
dist.mesh @m<"pp"=2>
dist.plan @p for @g on @m {
  batch microbatch 1 sequences
  stages over "pp" schedule "1f1b"
}
nn.training_step @train of @g with @r under @p microbatches 2 slots {
  slot param "w" : tensor<8xf32> init zeros
  slot param "v" : tensor<8xf32> init zeros
} begin {
} microbatch {
  %w = read param "w" : tensor<8xf32> in "h.0" forward
  %v = read param "v" : tensor<8xf32> in "h.1" forward
  %a = gelu %w : tensor<8xf32> -> tensor<8xf32> in "h.0" forward
  %b = mul %a, %v : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> in "h.1" forward
} update {
  // expected-note-re @+1 {{{{^}}known on stage 0{{$}}}}
  %w = read param "w" : tensor<8xf32>
  // expected-note-re @+1 {{{{^}}known on stage 1{{$}}}}
  %v = read param "v" : tensor<8xf32>
  // expected-error-re @+1 {{{{^}}uses values of different stages, and is neither an add nor a stack that could join them{{$}}}}
  %x = mul %w, %v : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
} evaluate {
}
