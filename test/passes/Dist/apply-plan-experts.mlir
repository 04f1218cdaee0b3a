// RUN: cat %S/Inputs/moe.mlir %s | hocket-opt --nn-pipeline="plan=part rows=8" --dist-apply-plan | grep "slot .*experts.up\|slot .*gate" | FileCheck %s
// Experts over the minor half of the batch's axis: their gradients are sums over the major half. The router's columns stay whole.
dist.mesh @m<"dp"=4, "tp"=2>
dist.plan @part for @moe on @m {
  batch over "dp" microbatch 2 sequences
  experts over {"dp":(2)2}
  split megatron over "tp"
}
// CHECK: slot param "h.0.gate.weight" {{.*}} on #r_r{{$}}
// CHECK: slot param "h.0.experts.up.weight" {{.*}} on #dp2x2_r_tp{{$}}
// CHECK: slot accumulator "h.0.gate.weight" {{.*}} on #r_r_sum_dp{{$}}
// CHECK: slot accumulator "h.0.experts.up.weight" {{.*}} on #dp2x2_r_tp_sum_dp1x2{{$}}
