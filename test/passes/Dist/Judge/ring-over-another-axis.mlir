// RUN: hocket-opt %s --dist-verify-partition --verify-diagnostics
// A step around a ring goes along the axis that cuts the sequence; along another one a block would stay where it is.
nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  batch 8 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
dist.mesh @m<"cp"=2, "tp"=2, "one"=1>
#cp = #dist.sharding<@m, [{}, {"cp"}, {}]>
nn.training_step @train of @gpt with @r microbatches 1 slots {
  slot value "k" : tensor<4x2x8xf32> on #dist.shard<tensor<4x4x8xf32>, #cp>
} begin {
} microbatch {
  // expected-note-re @+1 {{{{^}}%k is made here, split over {"cp"} in dimension 1{{$}}}}
  %k = read value "k" : tensor<4x2x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #cp>]
  // expected-error-re @+1 {{{{^}}'dist.shift' op goes around {"tp"}, but operand 0 (%k) is split over {"cp"} in dimension 1; the blocks of a ring are those of one dimension{{$}}}}
  %a = dist.shift %k over "tp" because "ring" : tensor<4x2x8xf32> -> tensor<4x2x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #cp>]
  // expected-error-re @+1 {{{{^}}'dist.shift' op goes around {"one"}, but operand 0 (%k) is split over {"cp"} in dimension 1; the blocks of a ring are those of one dimension{{$}}}}
  %b = dist.shift %k over "one" because "ring" : tensor<4x2x8xf32> -> tensor<4x2x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #cp>]
} update {
} evaluate {
}
