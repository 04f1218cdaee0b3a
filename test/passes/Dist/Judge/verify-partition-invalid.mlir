// RUN: hocket-opt %s --dist-verify-partition --verify-diagnostics
// One fault, or a pair of twins, for each constraint of passes/Dist/Judge/PartitionJudge.h; all are told in one run.

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
dist.mesh @m<"dp"=2, "tp"=2, "one"=1, "q"=4>

#r = #dist.sharding<@m, [{}]>
#s = #dist.sharding<@m, []>
#s_tp = #dist.sharding<@m, [], partial={"tp"}>
#dp_r = #dist.sharding<@m, [{"dp"}, {}]>
#dp_tp = #dist.sharding<@m, [{"dp"}, {"tp"}]>
#r_r = #dist.sharding<@m, [{}, {}]>
#r_tp = #dist.sharding<@m, [{}, {"tp"}]>
#tp_r = #dist.sharding<@m, [{"tp"}, {}]>
#dp_r_sum_tp = #dist.sharding<@m, [{"dp"}, {}], partial={"tp"}>
#tp_r_sum_dp = #dist.sharding<@m, [{"tp"}, {}], partial={"dp"}>
#r_sum_dp_tp = #dist.sharding<@m, [{}], partial={"dp", "tp"}>
#dp_tp_r = #dist.sharding<@m, [{"dp"}, {"tp"}, {}]>
#dp_r_r = #dist.sharding<@m, [{"dp"}, {}, {}]>
#dp_r_r_sum_tp = #dist.sharding<@m, [{"dp"}, {}, {}], partial={"tp"}>
#r_sum_dp = #dist.sharding<@m, [{}], partial={"dp"}>

nn.training_step @train of @gpt with @r microbatches 2 slots {
  slot input "ids" : tensor<2x4xi32> on #dist.shard<tensor<4x4xi32>, #dp_r>
  slot input "step" : tensor<i64> on #dist.shard<tensor<i64>, #s>
  slot accumulator "gain" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #r_sum_dp>
  slot value "x" : tensor<2x8xf32> on #dist.shard<tensor<4x8xf32>, #dp_r>
  slot value "p" : tensor<2x8xf32> on #dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>
  slot value "h" : tensor<2x4xf32> on #dist.shard<tensor<4x8xf32>, #dp_tp>
  slot value "w" : tensor<8x4xf32> on #dist.shard<tensor<8x8xf32>, #r_tp>
  slot value "v" : tensor<4x8xf32> on #dist.shard<tensor<8x8xf32>, #tp_r>
  slot value "gain" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #r>
  slot value "max" : tensor<2xf32> on #dist.shard<tensor<4xf32>, #dist.sharding<@m, [{"dp"}], partial=max{"tp"}>>
  slot value "odd" : tensor<2x3xf32> on #dist.shard<tensor<4x5xf32>, #dp_tp>
  slot value "oddw" : tensor<3x8xf32> on #dist.shard<tensor<5x8xf32>, #tp_r>
  slot value "tab" : tensor<4x8xf32> on #dist.shard<tensor<8x8xf32>, #tp_r>
  slot value "q" : tensor<3x8xf32> on #dist.shard<tensor<10x8xf32>, #dist.sharding<@m, [{"q"}, {}]>>
  slot value "s" : tensor<2x2x8xf32> on #dist.shard<tensor<4x4x8xf32>, #dp_tp_r>
  slot value "n4" : tensor<4xf32> on #dist.shard<tensor<8xf32>, #dist.sharding<@m, [{"tp"}]>>
  slot value "w8" : tensor<8x8xf32> on #dist.shard<tensor<8x8xf32>, #r_r>
  // C22
  slot param "w" : tensor<8xf32> init zeros on #dist.shard<tensor<8xf32>, #r_sum_dp>
  slot output "norm" : tensor<f32> on #dist.shard<tensor<f32>, #s_tp>
  // C2
  slot value "lost" : tensor<8xf32>
  // C3
  slot value "elsewhere" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #dist.sharding<@other, [{}]>>
  // C4
  slot value "short" : tensor<2xf32> on #dist.shard<tensor<5xf32>, #dist.sharding<@m, [{"tp"}]>>
  // C1
  slot value "axis" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #dist.sharding<@m, [{"tq"}]>>
  slot value "sub" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #dist.sharding<@m, [{"q":(1)3}]>>
} begin {
} microbatch {
  %x = read value "x" : tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  %p = read value "p" : tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  %h = read value "h" : tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  %w = read value "w" : tensor<8x4xf32> on [#dist.shard<tensor<8x8xf32>, #r_tp>]
  %v = read value "v" : tensor<4x8xf32> on [#dist.shard<tensor<8x8xf32>, #tp_r>]
  %gain = read value "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #r>]
  %max = read value "max" : tensor<2xf32> on [#dist.shard<tensor<4xf32>, #dist.sharding<@m, [{"dp"}], partial=max{"tp"}>>]
  %odd = read value "odd" : tensor<2x3xf32> on [#dist.shard<tensor<4x5xf32>, #dp_tp>]
  %oddw = read value "oddw" : tensor<3x8xf32> on [#dist.shard<tensor<5x8xf32>, #tp_r>]
  %tab = read value "tab" : tensor<4x8xf32> on [#dist.shard<tensor<8x8xf32>, #tp_r>]
  %q = read value "q" : tensor<3x8xf32> on [#dist.shard<tensor<10x8xf32>, #dist.sharding<@m, [{"q"}, {}]>>]
  %s = read value "s" : tensor<2x2x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dp_tp_r>]
  %n4 = read value "n4" : tensor<4xf32> on [#dist.shard<tensor<8xf32>, #dist.sharding<@m, [{"tp"}]>>]
  %w8 = read value "w8" : tensor<8x8xf32> on [#dist.shard<tensor<8x8xf32>, #r_r>]
  %ids = read input "ids" : tensor<2x4xi32> on [#dist.shard<tensor<4x4xi32>, #dp_r>]
  // C2
  %c2 = gelu %x : tensor<2x8xf32> -> tensor<2x8xf32>
  // C4
  %c4 = gelu %x : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<8x8xf32>, #dp_r>]
  // C5
  %c5 = add %x, %v : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C6
  %c6 = layer_norm %h, %n4, %n4 : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  // C7: rows and columns split over one axis: only the diagonal blocks are made.
  %c7 = matmul %v, %w "a b, c d -> a d" : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32> on [#dist.shard<tensor<8x8xf32>, #tp_r>]
  // C8, case G02: a partial value is used as if it were whole.
  %c8 = gelu %p : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C9
  %c9 = add %max, %max : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32> on [#dist.shard<tensor<4xf32>, #dist.sharding<@m, [{"dp"}], partial=max{"tp"}>>]
  // C10
  %c10 = mul %p, %p : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  // C11: the bias would be counted once for each rank.
  %c11 = add %p, %gain : tensor<2x8xf32>, tensor<8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  // C12
  %c12 = linear %p, %w : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  // C13, case G02: the contraction is split, the result claimed to be whole.
  %c13 = linear %h, %v : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C13, case L11: the gradient of a gain that is the same on all ranks, fed by shards of the sequence.
  %l11, %l11b = layer_norm_param_grad %s, %s : tensor<2x2x8xf32>, tensor<2x2x8xf32> -> tensor<8xf32>, tensor<8xf32> weight_grad on [#dist.shard<tensor<8xf32>, #r_sum_dp>, #dist.shard<tensor<8xf32>, #r_sum_dp>]
  // C14
  %c14 = embedding %ids, %tab : tensor<2x4xi32>, tensor<4x8xf32> -> tensor<2x4x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dp_r_r_sum_tp>]
  %o16 = dist.offset of 16 over "tp"
  %c14b = embedding %ids, %tab offset %o16 : tensor<2x4xi32>, tensor<4x8xf32> -> tensor<2x4x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dp_r_r_sum_tp>]
  %odp = dist.offset of 8 over "dp"
  %c14c = embedding %ids, %tab offset %odp : tensor<2x4xi32>, tensor<4x8xf32> -> tensor<2x4x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dp_r_r_sum_tp>]
  %c14d = embedding %ids, %w8 offset %odp : tensor<2x4xi32>, tensor<8x8xf32> -> tensor<2x4x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dp_r_r>]
  // C15: both sides of a product, or 0 times what is left in the other one; a maximum over zeros.
  %zero = dist.mask %odd dim 1 of 5 over "tp" with 0 : tensor<2x3xf32> -> tensor<2x3xf32> on [#dist.shard<tensor<4x5xf32>, #dp_tp>]
  %c15 = linear %zero, %oddw : tensor<2x3xf32>, tensor<3x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  %c15b = row_max %zero : tensor<2x3xf32> -> tensor<2xf32> on [#dist.shard<tensor<4xf32>, #dist.sharding<@m, [{"dp"}], partial=max{"tp"}>>]
  // C16, case G01: the axis splits the value.
  %c16 = dist.all_reduce sum %tab over "tp" because "gradient" : tensor<4x8xf32> -> tensor<4x8xf32> on [#dist.shard<tensor<8x8xf32>, #tp_r>]
  // C16, case N04: what all ranks hold would be counted by each of them.
  %c16b = dist.all_reduce sum %x over "tp" because "again" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  %c16c = dist.all_reduce max %p over "tp" because "extreme" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  %c16d = dist.reduce_scatter sum %x dim 1 over "tp" because "again" : tensor<2x8xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  // C17
  %c17 = dist.all_gather %x dim 1 over "tp" because "whole" : tensor<2x8xf32> -> tensor<2x16xf32> on [#dist.shard<tensor<4x16xf32>, #dp_r>]
  %c17b = dist.all_gather %h dim 1 over "dp" because "whole" : tensor<2x4xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  %c17c = dist.all_gather %q dim 0 over "q":(2)2 because "half" : tensor<3x8xf32> -> tensor<5x8xf32> on [#dist.shard<tensor<10x8xf32>, #dist.sharding<@m, [{"q":(1)2}, {}]>>]
  // C18, case G01: sliced before it is joined.
  %c18 = dist.slice %p over "tp" dim 1 : tensor<2x8xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  %c18b = dist.slice %h over "tp" dim 1 : tensor<2x4xf32> -> tensor<2x2xf32> on [#dist.shard<tensor<4x4xf32>, #dp_tp>]
  // C19
  %c19 = dist.mask %odd dim 1 of 6 over "tp" with 0 : tensor<2x3xf32> -> tensor<2x3xf32> on [#dist.shard<tensor<4x5xf32>, #dp_tp>]
  %c19b = dist.mask %odd dim 0 of 4 over "tp" with 0 : tensor<2x3xf32> -> tensor<2x3xf32> on [#dist.shard<tensor<4x5xf32>, #dp_tp>]
  // C20, case G02: joined over nothing that the claim still needs.
  %c20 = dist.all_reduce sum %p over "tp" because "join" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  // C20, case G05: an axis of one device joins nothing.
  %g05 = dist.all_reduce sum %p over "one" because "join" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C21
  %c21 = dist.all_reduce sum %p over "tp" stages [0, 1] because "tied" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C23, case L11: partial over the sequence's axis too, and stored as if it were not.
  %ok, %okb = layer_norm_param_grad %s, %s : tensor<2x2x8xf32>, tensor<2x2x8xf32> -> tensor<8xf32>, tensor<8xf32> weight_grad on [#dist.shard<tensor<8xf32>, #r_sum_dp_tp>, #dist.shard<tensor<8xf32>, #r_sum_dp_tp>]
  write accumulator "gain", %ok : tensor<8xf32> weight_grad on [#dist.shard<tensor<8xf32>, #r_sum_dp>]
  // C23
  %c23 = read value "p" : tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C24
  %c24 = arith.constant dense<0.0> : tensor<8xf32>
} update {
  // C8: a gradient that was never joined.
  %acc = read accumulator "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #r_sum_dp>]
  %sq = square_sum %acc : tensor<8xf32> -> tensor<f32> on [#dist.shard<tensor<f32>, #s>]
  // C16, case N04
  %gain = read value "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #r>]
  %square = square_sum %gain : tensor<8xf32> -> tensor<f32> on [#dist.shard<tensor<f32>, #s>]
  %norm = dist.all_reduce sum %square over "tp" because "norm" : tensor<f32> -> tensor<f32> on [#dist.shard<tensor<f32>, #s>]
} evaluate {
}
