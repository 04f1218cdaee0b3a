// RUN: cat %S/Inputs/gpt.mlir %s | hocket-opt --nn-pipeline="plan=p rows=4" --dist-apply-plan --dist-propagate-shardings -o %t
// RUN: FileCheck %s < %t
// A second run changes nothing.
// RUN: hocket-opt --verify-roundtrip %t --dist-propagate-shardings | diff - %t
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @p for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
}
// Positions follow what reads them; partial where a factor that is split is summed over.
// CHECK: = positions : tensor<4x3xi32>{{.*}} on [#dp_r]
// CHECK: = embedding %tokens{{.*}} in "wte#0" forward on [#dp_r_r_sum_tp]
// CHECK: = layer_norm {{.*}} in "h.0.ln_1" forward on [#dp_r_r]
// CHECK: = linear {{.*}} in "h.0.attn.qkv" forward on [#dp_r_r_tp_r]
// CHECK: = unstack {{.*}} on [#dp_r_tp_r, #dp_r_tp_r, #dp_r_tp_r]
// CHECK: = attention {{.*}} on [#dp_r_tp_r, #dp_r_tp]
// CHECK: = linear {{.*}} in "h.0.attn.proj" forward on [#dp_r_r_sum_tp]
// CHECK: = linear transposed {{.*}} in "wte#1" forward on [#dp_r_tp]
// CHECK: = row_max {{.*}} on [#dp_r_max_tp]
// Backward: an input's gradient is partial over tp, a norm's gradient only over dp.
// CHECK: = matmul {{.*}} in "h.0.mlp.fc" backward on [#dp_r_r_sum_tp]
// CHECK: = layer_norm_param_grad {{.*}} in "h.0.ln_2" weight_grad on [#r_sum_dp, #r_sum_dp]
// Gradients join accumulators unsummed.
// CHECK: = add %h.0.ln_2.weight.acc, {{.*}} on [#r_sum_dp]
