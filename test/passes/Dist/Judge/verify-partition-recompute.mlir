// C27 of passes/Dist/Judge/PartitionJudge.h: what is made again is what forward made. Each corruption of a sound program is told once,
// where it is made, and not at what is made of it.
// RUN: cat %S/../Inputs/gpt.mlir %s > %t.mlir
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=full rows=4" --dist-apply-plan --dist-propagate-shardings --dist-partition --dist-recompute --dist-verify-partition -o %t.sound.mlir
// DEFINE: %{broken} =
// DEFINE: %{judge} = sed '%{broken}' %t.sound.mlir >%t.broken.mlir && not hocket-opt %t.broken.mlir --dist-verify-partition -o /dev/null 2>&1 | grep -e error: | sed 's/.*error: //'
// REDEFINE: %{broken} = / recompute on /s/scale(0.7)/scale(0.8)/
// RUN: %{judge} | FileCheck %s --check-prefix=SCALE
// REDEFINE: %{broken} = s/gelu %h0_mlp_fc_add_again/gelu %h0_mlp_fc_again/
// RUN: %{judge} | FileCheck %s --check-prefix=OPERAND
// REDEFINE: %{broken} = s/"h.0.mlp" recompute/"h.0.attn" recompute/
// RUN: %{judge} | FileCheck %s --check-prefix=PATH
// REDEFINE: %{broken} = s/in "h.0" recompute/in "h.0" forward/
// RUN: %{judge} | FileCheck %s --check-prefix=FORWARD
// REDEFINE: %{broken} = s/read param "h.0.ln_2.bias"/read accumulator "h.0.ln_2.bias"/
// RUN: %{judge} | grep -e again -e expected | FileCheck %s --check-prefix=SUMS
dist.mesh @m<"dp"=2>
dist.plan @full for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  recompute "h.*" full
}
// SCALE: {{^}}'nn.attention' op is made again, but no op of forward in h.0.attn makes the same of the same values{{$}}
// SCALE-NOT: {{.}}
// OPERAND: {{^}}'nn.gelu' op is made again, but no op of forward in h.0.mlp makes the same of the same values{{$}}
// OPERAND-NOT: {{.}}
// PATH: {{^}}'nn.gelu' op is made again, but no op of forward in h.0.attn makes the same of the same values{{$}}
// PATH-NOT: {{.}}
// FORWARD: {{^}}'nn.add' op is of phase forward and takes operand 1 (%h0_attn_proj_add_again), which is made again in backward{{$}}
// SUMS: {{^}}'nn.layer_norm' op is made again of operand 2 (%{{.*}}), read from accumulator "h.0.ln_2.bias", which the microbatch writes{{$}}
