// A sharding that an op's operands and slots do not make is refused.
// RUN: hocket-opt %s --dist-partition --verify-diagnostics=only-expected
nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  batch 2 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
dist.mesh @m<"dp"=2>
dist.plan @p for @gpt on @m {
  batch over "dp" microbatch 1 sequences
}
nn.training_step @t of @gpt with @r under @p microbatches 1 slots {
  slot accumulator "a" : tensor<2x4xf32>
  slot input "x" : tensor<2x4xf32> on #dist.sharding<@m, [{"dp"}, {}]>
} begin {
} microbatch {
  %x = read input "x" : tensor<2x4xf32>
  // expected-error-re @+1 {{{{^}}'nn.gelu' op says that its result is #dist.sharding<@m, [{}, {}]>, but its operands and slots make it #dist.sharding<@m, [{"dp"}, {}]>{{$}}}}
  %0 = gelu %x : tensor<2x4xf32> -> tensor<2x4xf32> on [#dist.sharding<@m, [{}, {}]>]
} update {
} evaluate {
}
