// RUN: hocket-opt %s --dist-verify-partition --verify-diagnostics --split-input-file
// Case L11. A gain is the same on every rank of tp, and each rank sees only its part of the sequence: the gain's gradient is
// a sum over tp that must be taken before the step. A program in which it is taken passes; without it the judge says where.
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
dist.mesh @m<"dp"=2, "tp"=2>
#r = #dist.sharding<@m, [{}]>
#seq = #dist.sharding<@m, [{"dp"}, {"tp"}, {}]>
#sum = #dist.sharding<@m, [{}], partial={"dp", "tp"}>
nn.training_step @train of @gpt with @r microbatches 1 slots {
  slot value "x" : tensor<2x2x8xf32> on #dist.shard<tensor<4x4x8xf32>, #seq>
  slot accumulator "gain" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #sum>
  slot output "gain" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #r>
} begin {
} microbatch {
  %x = read value "x" : tensor<2x2x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #seq>]
  %a = read accumulator "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
  %g = rms_norm_param_grad %x, %x : tensor<2x2x8xf32>, tensor<2x2x8xf32> -> tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
  %b = add %a, %g : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
  write accumulator "gain", %b : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
} update {
  %a = read accumulator "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
  %g = dist.all_reduce sum %a over {"dp", "tp"} because "the gradient" : tensor<8xf32> -> tensor<8xf32> on [#dist.shard<tensor<8xf32>, #r>]
  write output "gain", %g : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #r>]
} evaluate {
}
// -----
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
dist.mesh @m<"dp"=2, "tp"=2>
#r = #dist.sharding<@m, [{}]>
#seq = #dist.sharding<@m, [{"dp"}, {"tp"}, {}]>
#sum = #dist.sharding<@m, [{}], partial={"dp"}>
nn.training_step @train of @gpt with @r microbatches 1 slots {
  slot value "x" : tensor<2x2x8xf32> on #dist.shard<tensor<4x4x8xf32>, #seq>
  slot accumulator "gain" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #sum>
  slot output "gain" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #r>
} begin {
} microbatch {
  // expected-note-re @+1 {{{{^}}%x is made here, split over {"dp"} in dimension 0 and split over {"tp"} in dimension 1{{$}}}}
  %x = read value "x" : tensor<2x2x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #seq>]
  %a = read accumulator "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
  // expected-error-re @+1 {{{{^}}'nn.rms_norm_param_grad' op claims that result 0 (%rms_norm_param_grad) is partial over {"dp"} by sum, but its operands make it partial over {"dp", "tp"} by sum{{$}}}}
  %g = rms_norm_param_grad %x, %x : tensor<2x2x8xf32>, tensor<2x2x8xf32> -> tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
  %b = add %a, %g : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
  write accumulator "gain", %b : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
} update {
  %a = read accumulator "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
  %g = dist.all_reduce sum %a over "dp" because "the gradient" : tensor<8xf32> -> tensor<8xf32> on [#dist.shard<tensor<8xf32>, #r>]
  write output "gain", %g : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #r>]
} evaluate {
}
// -----
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
dist.mesh @m<"dp"=2, "tp"=2>
#r = #dist.sharding<@m, [{}]>
#sum = #dist.sharding<@m, [{}], partial={"dp", "tp"}>
#left = #dist.sharding<@m, [{}], partial={"tp"}>
nn.training_step @train of @gpt with @r microbatches 1 slots {
  slot accumulator "gain" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #sum>
  // expected-note-re @+1 {{{{^}}slot declared here{{$}}}}
  slot output "gain" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #r>
} begin {
} microbatch {
} update {
  %a = read accumulator "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #sum>]
  // expected-note-re @+1 {{{{^}}%all_reduce is made here, partial over {"tp"} by sum{{$}}}}
  %g = dist.all_reduce sum %a over "dp" because "the gradient" : tensor<8xf32> -> tensor<8xf32> on [#dist.shard<tensor<8xf32>, #left>]
  // expected-error-re @+1 {{{{^}}'nn.write' op writes output 'gain' as partial over {"tp"} by sum, but the slot holds it whole{{$}}}}
  write output "gain", %g : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #left>]
} evaluate {
}
