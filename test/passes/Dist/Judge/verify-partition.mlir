// RUN: hocket-opt %s --verify-roundtrip | hocket-opt --dist-verify-partition | FileCheck %s
// Sound pieces of local programs, one for each constraint; the judge changes nothing and says nothing.

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
#r_sum_dp = #dist.sharding<@m, [{}], partial={"dp"}>

// CHECK-LABEL: nn.training_step @train
nn.training_step @train of @gpt with @r microbatches 2 slots {
  slot input "ids" : tensor<2x4xi32> on #dist.shard<tensor<4x4xi32>, #dp_r>
  slot input "step" : tensor<i64> on #dist.shard<tensor<i64>, #s>
  slot param "w" : tensor<8x8xf32> init zeros on #dist.shard<tensor<16x8xf32>, #tp_r>
  slot first_moment "w" : tensor<4x8xf32> init zeros on #dist.shard<tensor<16x8xf32>, #dist.sharding<@m, [{"tp", "dp"}, {}]>>
  slot second_moment "w" : tensor<4x8xf32> init zeros on #dist.shard<tensor<16x8xf32>, #dist.sharding<@m, [{"tp", "dp"}, {}]>>
  slot accumulator "w" : tensor<8x8xf32> on #dist.shard<tensor<16x8xf32>, #tp_r_sum_dp>
  slot value "x" : tensor<2x8xf32> on #dist.shard<tensor<4x8xf32>, #dp_r>
  slot value "h" : tensor<2x8xf32> on #dist.shard<tensor<4x16xf32>, #dp_tp>
  slot value "odd" : tensor<2x3xf32> on #dist.shard<tensor<4x5xf32>, #dp_tp>
  slot value "table" : tensor<3x8xf32> on #dist.shard<tensor<5x8xf32>, #tp_r>
  slot value "rate" : tensor<f32> on #dist.shard<tensor<f32>, #s>
  slot value "q" : tensor<2x8xf32> on #dist.shard<tensor<8x8xf32>, #dist.sharding<@m, [{"q"}, {}]>>
  slot output "norm" : tensor<f32> on #dist.shard<tensor<f32>, #s>
} begin {
} microbatch {
  %x = read value "x" : tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  %h = read value "h" : tensor<2x8xf32> on [#dist.shard<tensor<4x16xf32>, #dp_tp>]
  %w = read param "w" : tensor<8x8xf32> on [#dist.shard<tensor<16x8xf32>, #tp_r>]
  %odd = read value "odd" : tensor<2x3xf32> on [#dist.shard<tensor<4x5xf32>, #dp_tp>]
  // A contraction over a split factor is partial; it is joined at once, or scattered and gathered.
  %y = linear %h, %w : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  %y1 = dist.all_reduce sum %y over "tp" because "row parallel" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  %y2 = dist.reduce_scatter sum %y dim 1 over "tp" because "row parallel" : tensor<2x8xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  %y3 = dist.all_gather %y2 dim 1 over "tp" because "whole rows" : tensor<2x4xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  %y4 = dist.all_to_all %y2 split 0 gather 1 over "tp" because "rows for columns" : tensor<2x4xf32> -> tensor<1x8xf32> on [#dist.shard<tensor<4x8xf32>, #dist.sharding<@m, [{"dp", "tp"}, {}]>>]
  %y5 = dist.slice %y1 dim 1 over "tp" : tensor<2x8xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  // Sums pass through what is linear in them; sums of sums over the same axes.
  %z = add %y, %y : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  %z1 = mul %z, %x : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  // Axes of one device are none, in claims and in collectives.
  %one = dist.all_reduce sum %x over "one" because "a mesh of one" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dist.sharding<@m, [{"dp", "one"}, {}]>>]
  // Two halves of an axis are the axis.
  %q = read value "q" : tensor<2x8xf32> on [#dist.shard<tensor<8x8xf32>, #dist.sharding<@m, [{"q":(1)2, "q":(2)2}, {}]>>]
  %q1 = dist.all_gather %q dim 0 over {"q":(2)2} because "half" : tensor<2x8xf32> -> tensor<4x8xf32> on [#dist.shard<tensor<8x8xf32>, #dist.sharding<@m, [{"q":(1)2}, {}]>>]
  // Rows of a table are found by an offset; padding at its end is never read. Padding that is reduced is masked.
  %table = read value "table" : tensor<3x8xf32> on [#dist.shard<tensor<5x8xf32>, #tp_r>]
  %ids = read input "ids" : tensor<2x4xi32> on [#dist.shard<tensor<4x4xi32>, #dp_r>]
  %o = dist.offset of 5 over "tp"
  %e = embedding %ids, %table offset %o : tensor<2x4xi32>, tensor<3x8xf32> -> tensor<2x4x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dist.sharding<@m, [{"dp"}, {}, {}], partial={"tp"}>>]
  %low = dist.mask %odd dim 1 of 5 over "tp" with -inf : tensor<2x3xf32> -> tensor<2x3xf32> on [#dist.shard<tensor<4x5xf32>, #dp_tp>]
  %max = row_max %low : tensor<2x3xf32> -> tensor<2xf32> on [#dist.shard<tensor<4xf32>, #dist.sharding<@m, [{"dp"}], partial=max{"tp"}>>]
  %max1 = dist.all_reduce max %max over "tp" because "row_max" : tensor<2xf32> -> tensor<2xf32> on [#dist.shard<tensor<4xf32>, #dist.sharding<@m, [{"dp"}]>>]
  %exp = row_sum_exp %low, %max1 : tensor<2x3xf32>, tensor<2xf32> -> tensor<2xf32> on [#dist.shard<tensor<4xf32>, #dist.sharding<@m, [{"dp"}], partial={"tp"}>>]
  // Positions know where their shard begins; a constant is the same in every shard, and zeros are a sum of zeros.
  %op = dist.offset of 4 over "tp"
  %pos = positions offset %op : tensor<2x2xi32> on [#dist.shard<tensor<4x4xi32>, #dp_tp>]
  // Gradients are partial over the batch, like the accumulator that they are added to.
  %dw = matmul %h, %x "b n, b h -> n h" : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<8x8xf32> weight_grad on [#dist.shard<tensor<16x8xf32>, #tp_r_sum_dp>]
  %acc = read accumulator "w" : tensor<8x8xf32> weight_grad on [#dist.shard<tensor<16x8xf32>, #tp_r_sum_dp>]
  %acc1 = add %acc, %dw : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32> weight_grad on [#dist.shard<tensor<16x8xf32>, #tp_r_sum_dp>]
  write accumulator "w", %acc1 : tensor<8x8xf32> weight_grad on [#dist.shard<tensor<16x8xf32>, #tp_r_sum_dp>]
} update {
  %acc = read accumulator "w" : tensor<8x8xf32> on [#dist.shard<tensor<16x8xf32>, #tp_r_sum_dp>]
  %g = dist.reduce_scatter sum %acc dim 0 over "dp" because "zero 1" : tensor<8x8xf32> -> tensor<4x8xf32> on [#dist.shard<tensor<16x8xf32>, #dist.sharding<@m, [{"tp", "dp"}, {}]>>]
  %square = square_sum %g : tensor<4x8xf32> -> tensor<f32> on [#dist.shard<tensor<f32>, #dist.sharding<@m, [], partial={"dp", "tp"}>>]
  %square1 = dist.all_reduce sum %square over {"dp", "tp"} because "norm" : tensor<f32> -> tensor<f32> on [#dist.shard<tensor<f32>, #s>]
  write output "norm", %square1 : tensor<f32> on [#dist.shard<tensor<f32>, #s>]
  %w = read param "w" : tensor<8x8xf32> on [#dist.shard<tensor<16x8xf32>, #tp_r>]
  %mine = dist.slice %w dim 0 over "dp" : tensor<8x8xf32> -> tensor<4x8xf32> on [#dist.shard<tensor<16x8xf32>, #dist.sharding<@m, [{"tp", "dp"}, {}]>>]
  %m = read first_moment "w" : tensor<4x8xf32> on [#dist.shard<tensor<16x8xf32>, #dist.sharding<@m, [{"tp", "dp"}, {}]>>]
  %v = read second_moment "w" : tensor<4x8xf32> on [#dist.shard<tensor<16x8xf32>, #dist.sharding<@m, [{"tp", "dp"}, {}]>>]
  %rate = read value "rate" : tensor<f32> on [#dist.shard<tensor<f32>, #s>]
  %step = read input "step" : tensor<i64> on [#dist.shard<tensor<i64>, #s>]
  %w1, %m1, %v1 = adamw %mine, %g, %m, %v rate %rate clip %rate step %step(betas = [0.9, 0.95], eps = 1.0e-8, weight_decay = 0.1, lr_scale = 1.0) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<i64> -> tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32> on [#dist.shard<tensor<16x8xf32>, #dist.sharding<@m, [{"tp", "dp"}, {}]>>, #dist.shard<tensor<16x8xf32>, #dist.sharding<@m, [{"tp", "dp"}, {}]>>, #dist.shard<tensor<16x8xf32>, #dist.sharding<@m, [{"tp", "dp"}, {}]>>]
  %w2 = dist.all_gather %w1 dim 0 over "dp" because "zero 1" : tensor<4x8xf32> -> tensor<8x8xf32> on [#dist.shard<tensor<16x8xf32>, #tp_r>]
  write param "w", %w2 : tensor<8x8xf32> on [#dist.shard<tensor<16x8xf32>, #tp_r>]
} evaluate {
}
// A step over whole tensors, not partitioned and under no plan: left alone.
nn.training_step @global of @gpt with @r microbatches 2 slots {
  slot value "x" : tensor<2x8xf32>
} begin {
} microbatch {
  %x = read value "x" : tensor<2x8xf32>
} update {
} evaluate {
}
