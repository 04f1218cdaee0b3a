// RUN: hocket-opt %s --dist-verify-partition --verify-diagnostics --split-input-file
// Case G02. That a value is a sum not yet taken is part of what it is: it becomes whole, or split, by all_reduce or
// reduce_scatter and by nothing else. A use of it as if it were the sum, and a join moved past an op that is not linear, are refused.
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
dist.mesh @m<"tp"=2>
#r_r = #dist.sharding<@m, [{}, {}]>
#tp = #dist.sharding<@m, [{}, {"tp"}]>
#tp_r = #dist.sharding<@m, [{"tp"}, {}]>
#sum = #dist.sharding<@m, [{}, {}], partial={"tp"}>
nn.training_step @train of @gpt with @r microbatches 1 slots {
  slot value "h" : tensor<4x8xf32> on #dist.shard<tensor<4x16xf32>, #tp>
  slot param "w" : tensor<8x8xf32> init zeros on #dist.shard<tensor<16x8xf32>, #tp_r>
} begin {
} microbatch {
  // expected-note-re @+1 {{{{^}}%h is made here, split over {"tp"} in dimension 1{{$}}}}
  %h = read value "h" : tensor<4x8xf32> on [#dist.shard<tensor<4x16xf32>, #tp>]
  // expected-note-re @+1 {{{{^}}%w is made here, split over {"tp"} in dimension 0{{$}}}}
  %w = read param "w" : tensor<8x8xf32> on [#dist.shard<tensor<16x8xf32>, #tp_r>]
  // expected-error-re @+1 {{{{^}}'nn.linear' op claims that result 0 (%w_0) is whole, but its operands make it partial over {"tp"} by sum{{$}}}}
  %0 = linear %h, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> on [#dist.shard<tensor<4x8xf32>, #r_r>]
  // expected-note-re @+1 {{{{^}}%w_1 is made here, partial over {"tp"} by sum{{$}}}}
  %y = linear %h, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> on [#dist.shard<tensor<4x8xf32>, #sum>]
  // expected-error-re @+1 {{{{^}}'nn.gelu' op has operand 0 (%w_1) that is partial over {"tp"} by sum, but it is not linear in it; it must be joined before, by all_reduce or reduce_scatter sum over {"tp"}{{$}}}}
  %1 = gelu %y : tensor<4x8xf32> -> tensor<4x8xf32> on [#dist.shard<tensor<4x8xf32>, #sum>]
  // expected-error-re @+1 {{{{^}}'dist.slice' op splits operand 0 (%w_1) over {"tp"}, over which it is partial; summands on other ranks would be lost, so it must be joined before{{$}}}}
  %2 = dist.slice %y dim 1 over "tp" : tensor<4x8xf32> -> tensor<4x4xf32> on [#dist.shard<tensor<4x8xf32>, #tp>]
} update {
} evaluate {
}
