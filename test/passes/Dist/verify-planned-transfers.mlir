// What a plan asks for passes with no byte to spare. A weight and its gradient gathered under tp do not, and the error says what
// removes each: two tactics split one index differently (10 over 4 and over 2, whose shards do not nest).
// RUN: cat %S/Inputs/gpt.mlir %s > %t.mlir
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=asked rows=4" --dist-apply-plan --dist-propagate-shardings --dist-partition --dist-verify-planned-transfers -o /dev/null
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=agreed rows=4" --dist-apply-plan --dist-propagate-shardings --dist-partition --dist-verify-planned-transfers -o /dev/null
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=unasked rows=4" --dist-apply-plan --dist-propagate-shardings --dist-partition --dist-verify-planned-transfers="max-bytes=560" -o /dev/null
// RUN: not hocket-opt %t.mlir --nn-pipeline="plan=unasked rows=4" --dist-apply-plan --dist-propagate-shardings --dist-partition --dist-verify-planned-transfers="max-bytes=559" -o /dev/null 2>&1 | FileCheck %s --match-full-lines --implicit-check-not=error:
dist.mesh @m<"dp"=2, "tp"=4>
dist.plan @asked for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
  zero 1 over "dp"
}
dist.plan @agreed for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split "h.*.mlp.fc.weight" dim 1 over "tp"
  split "h.*.mlp.proj.weight" dim 0 over "tp"
}
// Each gather sends (n-1)/n of 10x8 numbers of 4 bytes: 240 over four ranks, 160 over two.
// CHECK: {{.*}}.mlir:{{[0-9]+}}:1: error: 'dist.plan' op has a rank send 560 bytes a step that none of its tactics asks for; at most 559 are allowed
// CHECK-DAG: {{.*}}.mlir:27:9: note: all_gather over tp in h.*.mlp.proj: 240 bytes in 1 transfer; removed by `split "h.*.mlp.proj.weight" dim 0 over "tp"`
// CHECK-DAG: {{.*}}.mlir:27:9: note: all_gather over tp:(1)2 in h.*.mlp.proj: 320 bytes in 2 transfers; removed by `split "h.*.mlp.proj.weight" dim 0 over "tp"`
dist.plan @unasked for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split "h.*.mlp.fc.weight" dim 1 over "tp"
  split "h.*.mlp.proj.weight" dim 0 over {"tp":(1)2}
}
