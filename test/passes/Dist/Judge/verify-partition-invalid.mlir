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
  // expected-note-re @+1 {{{{^}}slot declared here{{$}}}}
  slot accumulator "gain" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #r_sum_dp>
  slot value "x" : tensor<2x8xf32> on #dist.shard<tensor<4x8xf32>, #dp_r>
  // expected-note-re @+1 {{{{^}}slot declared here{{$}}}}
  slot value "p" : tensor<2x8xf32> on #dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>
  slot value "h" : tensor<2x4xf32> on #dist.shard<tensor<4x8xf32>, #dp_tp>
  slot value "w" : tensor<8x4xf32> on #dist.shard<tensor<8x8xf32>, #r_tp>
  slot value "v" : tensor<4x8xf32> on #dist.shard<tensor<8x8xf32>, #tp_r>
  slot value "u" : tensor<8x4xf32> on #dist.shard<tensor<16x4xf32>, #tp_r>
  slot value "thin" : tensor<4x2xf32> on #dist.shard<tensor<8x2xf32>, #dp_r>
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
  // expected-error-re @+1 {{{{^}}'nn.slot' op holds param 'w' partial over {"dp"} by sum; only accumulators and values may be partial at rest{{$}}}}
  slot param "w" : tensor<8xf32> init zeros on #dist.shard<tensor<8xf32>, #r_sum_dp>
  // expected-error-re @+1 {{{{^}}'nn.slot' op 'norm' is partial over {"tp"} by sum, but an output is read from any rank and must be whole{{$}}}}
  slot output "norm" : tensor<f32> on #dist.shard<tensor<f32>, #s_tp>
  // C2
  // expected-error-re @+1 {{{{^}}'nn.slot' op does not say what value 'lost' is a shard of; every value of a local program carries #dist.shard{{$}}}}
  slot value "lost" : tensor<8xf32>
  // C3
  // expected-error-re @+1 {{{{^}}'nn.slot' op places value 'elsewhere' on mesh @other, but the step runs on @m{{$}}}}
  slot value "elsewhere" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #dist.sharding<@other, [{}]>>
  // C4
  // expected-error-re @+1 {{{{^}}'nn.slot' op gives value 'short' the type 'tensor<2xf32>', but a shard of 'tensor<5xf32>' that is split over {"tp"} in dimension 0 is 'tensor<3xf32>'{{$}}}}
  slot value "short" : tensor<2xf32> on #dist.shard<tensor<5xf32>, #dist.sharding<@m, [{"tp"}]>>
  // C1
  // expected-error-re @+1 {{{{^}}'nn.slot' op names axes {"tq"}, but mesh @m has no axis "tq" (nearest: tp){{$}}}}
  slot value "axis" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #dist.sharding<@m, [{"tq"}]>>
  // expected-error-re @+1 {{{{^}}'nn.slot' op names axes {"q":(1)3}, but sub-axis {"q":(1)3} does not divide axis "q" of 4 devices{{$}}}}
  slot value "sub" : tensor<8xf32> on #dist.shard<tensor<8xf32>, #dist.sharding<@m, [{"q":(1)3}]>>
} begin {
} microbatch {
  // expected-note-re @+1 {{{{^}}%x is made here, split over {"dp"} in dimension 0{{$}}}}
  %x = read value "x" : tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // expected-note-re @+1 {{{{^}}%p is made here, split over {"dp"} in dimension 0 and partial over {"tp"} by sum{{$}}}}
  %p = read value "p" : tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  // expected-note-re @+1 {{{{^}}%h is made here, split over {"dp"} in dimension 0 and split over {"tp"} in dimension 1{{$}}}}
  %h = read value "h" : tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  // expected-note-re @+1 {{{{^}}%w is made here, split over {"tp"} in dimension 1{{$}}}}
  %w = read value "w" : tensor<8x4xf32> on [#dist.shard<tensor<8x8xf32>, #r_tp>]
  // expected-note-re @+1 {{{{^}}%v is made here, split over {"tp"} in dimension 0{{$}}}}
  %v = read value "v" : tensor<4x8xf32> on [#dist.shard<tensor<8x8xf32>, #tp_r>]
  // expected-note-re @+1 {{{{^}}%u is made here, split over {"tp"} in dimension 0{{$}}}}
  %u = read value "u" : tensor<8x4xf32> on [#dist.shard<tensor<16x4xf32>, #tp_r>]
  // expected-note-re @+1 {{{{^}}%thin is made here, split over {"dp"} in dimension 0{{$}}}}
  %thin = read value "thin" : tensor<4x2xf32> on [#dist.shard<tensor<8x2xf32>, #dp_r>]
  // expected-note-re @+1 {{{{^}}%gain is made here, whole{{$}}}}
  %gain = read value "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #r>]
  // expected-note-re @+1 {{{{^}}%max is made here, split over {"dp"} in dimension 0 and partial over {"tp"} by max{{$}}}}
  %max = read value "max" : tensor<2xf32> on [#dist.shard<tensor<4xf32>, #dist.sharding<@m, [{"dp"}], partial=max{"tp"}>>]
  // expected-note-re @+1 {{{{^}}%odd is made here, split over {"dp"} in dimension 0 and split over {"tp"} in dimension 1{{$}}}}
  %odd = read value "odd" : tensor<2x3xf32> on [#dist.shard<tensor<4x5xf32>, #dp_tp>]
  // expected-note-re @+1 {{{{^}}%oddw is made here, split over {"tp"} in dimension 0{{$}}}}
  %oddw = read value "oddw" : tensor<3x8xf32> on [#dist.shard<tensor<5x8xf32>, #tp_r>]
  // expected-note-re @+1 {{{{^}}%tab is made here, split over {"tp"} in dimension 0{{$}}}}
  %tab = read value "tab" : tensor<4x8xf32> on [#dist.shard<tensor<8x8xf32>, #tp_r>]
  // expected-note-re @+1 {{{{^}}%q is made here, split over {"q"} in dimension 0{{$}}}}
  %q = read value "q" : tensor<3x8xf32> on [#dist.shard<tensor<10x8xf32>, #dist.sharding<@m, [{"q"}, {}]>>]
  // expected-note-re @+1 {{{{^}}%s is made here, split over {"dp"} in dimension 0 and split over {"tp"} in dimension 1{{$}}}}
  %s = read value "s" : tensor<2x2x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dp_tp_r>]
  %n4 = read value "n4" : tensor<4xf32> on [#dist.shard<tensor<8xf32>, #dist.sharding<@m, [{"tp"}]>>]
  %w8 = read value "w8" : tensor<8x8xf32> on [#dist.shard<tensor<8x8xf32>, #r_r>]
  %ids = read input "ids" : tensor<2x4xi32> on [#dist.shard<tensor<4x4xi32>, #dp_r>]
  // C2
  // expected-error-re @+1 {{{{^}}'nn.gelu' op does not say what result 0 is a shard of; every value of a local program carries #dist.shard{{$}}}}
  %c2 = gelu %x : tensor<2x8xf32> -> tensor<2x8xf32>
  // C4
  // expected-error-re @+2 {{{{^}}'nn.gelu' op gives result 0 the type 'tensor<2x8xf32>', but a shard of 'tensor<8x8xf32>' that is split over {"dp"} in dimension 0 is 'tensor<4x8xf32>'{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.gelu' op claims that result 0 (%gelu_0) is a shard of 'tensor<8x8xf32>', but its operands make it one of 'tensor<4x8xf32>'{{$}}}}
  %c4 = gelu %x : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<8x8xf32>, #dp_r>]
  // C5
  // expected-error-re @+1 {{{{^}}'nn.linear' op has factor h of 8 elements in operand 0 (%x) and of 16 in operand 1 (%u); as whole tensors they must have one size{{$}}}}
  %c5 = linear %x, %u : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x4xf32>, #dp_r_sum_tp>]
  // expected-error-re @+1 {{{{^}}'nn.linear' op has factor h split over {"tp"} in operand 0 (%h) and split over {"dp"} in operand 1 (%thin); operands that share a factor must be split alike{{$}}}}
  %c5b = linear %h, %thin : tensor<2x4xf32>, tensor<4x2xf32> -> tensor<2x2xf32> on [#dist.shard<tensor<4x2xf32>, #dp_r_sum_tp>]
  // C6
  // expected-error-re @+1 {{{{^}}'nn.layer_norm' op needs factor h whole, but it is split over {"tp"} in operand 0 (%h){{$}}}}
  %c6 = layer_norm %h, %n4, %n4 : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  // C7: rows and columns split over one axis: only the diagonal blocks are made.
  // expected-error-re @+1 {{{{^}}'nn.linear' op has factors b of operand 0 (%v) and f of operand 1 (%w) both split over {"tp"}; a rank would see only blocks where both numbers are its own, so an axis may split one factor{{$}}}}
  %c7 = linear %v, %w : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32> on [#dist.shard<tensor<8x4xf32>, #tp_r>]
  // C8, case G02: a partial value is used as if it were whole.
  // expected-error-re @+1 {{{{^}}'nn.gelu' op has operand 0 (%p) that is partial over {"tp"} by sum, but it is not linear in it; it must be joined before, by all_reduce or reduce_scatter sum over {"tp"}{{$}}}}
  %c8 = gelu %p : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C9
  // expected-error-re @+2 {{{{^}}'nn.add' op has operand 0 (%max) that is partial over {"tp"} by max, but only sums pass through ops; it must be joined before, by all_reduce or reduce_scatter max over {"tp"}{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.add' op has operand 1 (%max) that is partial over {"tp"} by max, but only sums pass through ops; it must be joined before, by all_reduce or reduce_scatter max over {"tp"}{{$}}}}
  %c9 = add %max, %max : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32> on [#dist.shard<tensor<4xf32>, #dist.sharding<@m, [{"dp"}], partial=max{"tp"}>>]
  // C10
  // expected-error-re @+1 {{{{^}}'nn.mul' op has operand 0 (%p) and operand 1 (%p) both partial over {"tp"}; a sum of products is not the product of sums, so one of them must be joined before{{$}}}}
  %c10 = mul %p, %p : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  // C11: the bias would be counted once for each rank.
  // expected-error-re @+1 {{{{^}}'nn.add' op has operand 0 (%p) that is partial over {"tp"} by sum and operand 1 (%gain) that is not partial; what is added must be partial over the same axes, or a whole value counts once for each rank{{$}}}}
  %c11 = add %p, %gain : tensor<2x8xf32>, tensor<8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  // C12
  // expected-error-re @+1 {{{{^}}'nn.linear' op has operand 0 (%p) that is partial over {"tp"}, which also splits factor f of operand 1 (%w); the summands would lie on ranks with other shards, so it must be joined before{{$}}}}
  %c12 = linear %p, %w : tensor<2x8xf32>, tensor<8x4xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  // C13, case G02: the contraction is split, the result claimed to be whole.
  // expected-error-re @+1 {{{{^}}'nn.linear' op claims that result 0 (%v_8) is split over {"dp"} in dimension 0, but its operands make it split over {"dp"} in dimension 0 and partial over {"tp"} by sum{{$}}}}
  %c13 = linear %h, %v : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C13, case L11: the gradient of a gain that is the same on all ranks, fed by shards of the sequence.
  // expected-error-re @+2 {{{{^}}'nn.layer_norm_param_grad' op claims that result 0 (%layer_norm_param_grad_gain) is partial over {"dp"} by sum, but its operands make it partial over {"dp", "tp"} by sum{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.layer_norm_param_grad' op claims that result 1 (%layer_norm_param_grad_bias) is partial over {"dp"} by sum, but its operands make it partial over {"dp", "tp"} by sum{{$}}}}
  %l11, %l11b = layer_norm_param_grad %s, %s : tensor<2x2x8xf32>, tensor<2x2x8xf32> -> tensor<8xf32>, tensor<8xf32> weight_grad on [#dist.shard<tensor<8xf32>, #r_sum_dp>, #dist.shard<tensor<8xf32>, #r_sum_dp>]
  // C14
  // expected-error-re @+1 {{{{^}}'nn.embedding' op has factor v split over {"tp"}, but no offset tells it where its shard begins{{$}}}}
  %c14 = embedding %ids, %tab : tensor<2x4xi32>, tensor<4x8xf32> -> tensor<2x4x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dp_r_r_sum_tp>]
  // expected-note-re @+1 {{{{^}}offset made here{{$}}}}
  %o16 = dist.offset of 16 over "tp"
  // expected-error-re @+1 {{{{^}}'nn.embedding' op takes the offset of a dimension of 16 elements split over {"tp"}, but its factor v has 8 elements split over {"tp"}{{$}}}}
  %c14b = embedding %ids, %tab offset %o16 : tensor<2x4xi32>, tensor<4x8xf32> -> tensor<2x4x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dp_r_r_sum_tp>]
  // expected-note-re @+1 {{{{^}}offset made here{{$}}}}
  %odp = dist.offset of 8 over "dp"
  // expected-error-re @+1 {{{{^}}'nn.embedding' op takes the offset of a dimension of 8 elements split over {"dp"}, but its factor v has 8 elements split over {"tp"}{{$}}}}
  %c14c = embedding %ids, %tab offset %odp : tensor<2x4xi32>, tensor<4x8xf32> -> tensor<2x4x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dp_r_r_sum_tp>]
  // expected-error-re @+1 {{{{^}}'nn.embedding' op takes operand 2 (%offset_dp) for an offset, but no factor that needs one is split{{$}}}}
  %c14d = embedding %ids, %w8 offset %odp : tensor<2x4xi32>, tensor<8x8xf32> -> tensor<2x4x8xf32> on [#dist.shard<tensor<4x4x8xf32>, #dp_r_r>]
  // C15: both sides of a product, or 0 times what is left in the other one; a maximum over zeros.
  // expected-note-re @+1 {{{{^}}%mask is made here, split over {"dp"} in dimension 0 and split over {"tp"} in dimension 1{{$}}}}
  %zero = dist.mask %odd dim 1 of 5 over "tp" with 0 : tensor<2x3xf32> -> tensor<2x3xf32> on [#dist.shard<tensor<4x5xf32>, #dp_tp>]
  // expected-error-re @+1 {{{{^}}'nn.linear' op reduces over factor h of 5 elements split over {"tp"}, but the padding of operand 1 (%oddw) is undefined; it must be masked with 0.0{{$}}}}
  %c15 = linear %zero, %oddw : tensor<2x3xf32>, tensor<3x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  // expected-error-re @+1 {{{{^}}'nn.row_max' op reduces over factor v of 5 elements split over {"tp"}, but the padding of operand 0 (%mask) holds 0.0; it must be masked with -inf{{$}}}}
  %c15b = row_max %zero : tensor<2x3xf32> -> tensor<2xf32> on [#dist.shard<tensor<4xf32>, #dist.sharding<@m, [{"dp"}], partial=max{"tp"}>>]
  // C16, case G01: the axis splits the value.
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op joins operand 0 (%tab) over {"tp"}, which splits its dimension 0; ranks along it hold different elements, not summands{{$}}}}
  %c16 = dist.all_reduce sum %tab over "tp" because "gradient" : tensor<4x8xf32> -> tensor<4x8xf32> on [#dist.shard<tensor<8x8xf32>, #tp_r>]
  // C16, case N04: what all ranks hold would be counted by each of them.
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op joins operand 0 (%x) over {"tp"}, over which it is not partial (it is split over {"dp"} in dimension 0); a sum would count it 2 times{{$}}}}
  %c16b = dist.all_reduce sum %x over "tp" because "again" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op joins operand 0 (%p) by max, but it is partial over {"tp"} by sum{{$}}}}
  %c16c = dist.all_reduce max %p over "tp" because "extreme" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // expected-error-re @+1 {{{{^}}'dist.reduce_scatter' op joins operand 0 (%x) over {"tp"}, over which it is not partial (it is split over {"dp"} in dimension 0); a sum would count it 2 times{{$}}}}
  %c16d = dist.reduce_scatter sum %x dim 1 over "tp" because "again" : tensor<2x8xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  // C17
  // expected-error-re @+1 {{{{^}}'dist.all_gather' op gathers dimension 1 of operand 0 (%x) over {"tp"}, but it is whole{{$}}}}
  %c17 = dist.all_gather %x dim 1 over "tp" because "whole" : tensor<2x8xf32> -> tensor<2x16xf32> on [#dist.shard<tensor<4x16xf32>, #dp_r>]
  // expected-error-re @+1 {{{{^}}'dist.all_gather' op gathers dimension 1 of operand 0 (%h) over {"dp"}, but it is split over {"tp"}; only the last axes of a dimension, in its order, can be gathered{{$}}}}
  %c17b = dist.all_gather %h dim 1 over "dp" because "whole" : tensor<2x4xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // expected-error-re @+1 {{{{^}}'dist.all_gather' op gathers dimension 0 of operand 0 (%q) over {"q":(2)2}, a part of {"q"} that cuts 10 elements at once; what is left would be no even split{{$}}}}
  %c17c = dist.all_gather %q dim 0 over {"q":(2)2} because "half" : tensor<3x8xf32> -> tensor<5x8xf32> on [#dist.shard<tensor<10x8xf32>, #dist.sharding<@m, [{"q":(1)2}, {}]>>]
  // C18, case G01: sliced before it is joined.
  // expected-error-re @+1 {{{{^}}'dist.slice' op splits operand 0 (%p) over {"tp"}, over which it is partial; summands on other ranks would be lost, so it must be joined before{{$}}}}
  %c18 = dist.slice %p dim 1 over "tp" : tensor<2x8xf32> -> tensor<2x4xf32> on [#dist.shard<tensor<4x8xf32>, #dp_tp>]
  // expected-error-re @+1 {{{{^}}'dist.slice' op splits operand 0 (%h) over {"tp"}, which splits its dimension 1 already{{$}}}}
  %c18b = dist.slice %h dim 1 over "tp" : tensor<2x4xf32> -> tensor<2x2xf32> on [#dist.shard<tensor<4x4xf32>, #dp_tp>]
  // C19
  // expected-error-re @+1 {{{{^}}'dist.mask' op masks a dimension of 6 elements split over {"tp"}, but dimension 1 of operand 0 (%odd) has 5 elements split over {"tp"}{{$}}}}
  %c19 = dist.mask %odd dim 1 of 6 over "tp" with 0 : tensor<2x3xf32> -> tensor<2x3xf32> on [#dist.shard<tensor<4x5xf32>, #dp_tp>]
  // expected-error-re @+1 {{{{^}}'dist.mask' op masks a dimension of 4 elements split over {"tp"}, but dimension 0 of operand 0 (%odd) has 4 elements split over {"dp"}{{$}}}}
  %c19b = dist.mask %odd dim 0 of 4 over "tp" with 0 : tensor<2x3xf32> -> tensor<2x3xf32> on [#dist.shard<tensor<4x5xf32>, #dp_tp>]
  // C20, case G02: joined over nothing that the claim still needs.
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op claims that result 0 (%all_reduce_21) is split over {"dp"} in dimension 0 and partial over {"tp"} by sum, but makes it split over {"dp"} in dimension 0{{$}}}}
  %c20 = dist.all_reduce sum %p over "tp" because "join" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r_sum_tp>]
  // C20, case G05: an axis of one device joins nothing.
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op claims that result 0 (%all_reduce_22) is split over {"dp"} in dimension 0, but makes it split over {"dp"} in dimension 0 and partial over {"tp"} by sum{{$}}}}
  %g05 = dist.all_reduce sum %p over "one" because "join" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C21
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op names stages, but stages are cut after the partition is judged{{$}}}}
  %c21 = dist.all_reduce sum %p over "tp" stages [0, 1] because "tied" : tensor<2x8xf32> -> tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C23, case L11: partial over the sequence's axis too, and stored as if it were not.
  // expected-note-re @+1 {{{{^}}%layer_norm_param_grad_gain_24 is made here, partial over {"dp", "tp"} by sum{{$}}}}
  %ok, %okb = layer_norm_param_grad %s, %s : tensor<2x2x8xf32>, tensor<2x2x8xf32> -> tensor<8xf32>, tensor<8xf32> weight_grad on [#dist.shard<tensor<8xf32>, #r_sum_dp_tp>, #dist.shard<tensor<8xf32>, #r_sum_dp_tp>]
  // expected-error-re @+2 {{{{^}}'nn.write' op claims to store a value that is partial over {"dp"} by sum, but it is partial over {"dp", "tp"} by sum{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.write' op writes accumulator 'gain' as partial over {"dp", "tp"} by sum, but the slot holds it partial over {"dp"} by sum{{$}}}}
  write accumulator "gain", %ok : tensor<8xf32> weight_grad on [#dist.shard<tensor<8xf32>, #r_sum_dp>]
  // C23
  // expected-error-re @+1 {{{{^}}'nn.read' op reads value 'p' as split over {"dp"} in dimension 0, but the slot holds it split over {"dp"} in dimension 0 and partial over {"tp"} by sum{{$}}}}
  %c23 = read value "p" : tensor<2x8xf32> on [#dist.shard<tensor<4x8xf32>, #dp_r>]
  // C24
  // expected-error-re @+2 {{{{^}}'arith.constant' op does not say what result 0 is a shard of; every value of a local program carries #dist.shard{{$}}}}
  // expected-error-re @+1 {{{{^}}'arith.constant' op has no factor rule and is no collective: what it makes of shards is unknown{{$}}}}
  %c24 = arith.constant dense<0.0> : tensor<8xf32>
} update {
  // C8: a gradient that was never joined.
  // expected-note-re @+1 {{{{^}}%gain.acc is made here, partial over {"dp"} by sum{{$}}}}
  %acc = read accumulator "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #r_sum_dp>]
  // expected-error-re @+1 {{{{^}}'nn.square_sum' op has operand 0 (%gain.acc) that is partial over {"dp"} by sum, but it is not linear in it; it must be joined before, by all_reduce or reduce_scatter sum over {"dp"}{{$}}}}
  %sq = square_sum %acc : tensor<8xf32> -> tensor<f32> on [#dist.shard<tensor<f32>, #s>]
  // C16, case N04
  %gain = read value "gain" : tensor<8xf32> on [#dist.shard<tensor<8xf32>, #r>]
  // expected-note-re @+1 {{{{^}}%square_sum_0 is made here, whole{{$}}}}
  %square = square_sum %gain : tensor<8xf32> -> tensor<f32> on [#dist.shard<tensor<f32>, #s>]
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op joins operand 0 (%square_sum_0) over {"tp"}, over which it is not partial (it is whole); a sum would count it 2 times{{$}}}}
  %norm = dist.all_reduce sum %square over "tp" because "norm" : tensor<f32> -> tensor<f32> on [#dist.shard<tensor<f32>, #s>]
} evaluate {
}
