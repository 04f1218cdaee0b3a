// `split auto` is written into the plan as tactics that name parameters (what forms are found: AutoSplitTest).
// RUN: cat %examples/llama-tiny/model.mlir %s > %t.mlir
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=found rows=4 microbatches=2" --dist-apply-plan | hocket-opt | FileCheck %s
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=found rows=4 microbatches=2" --dist-apply-plan="print=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix REMARK --match-full-lines
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=done rows=4 microbatches=2" --dist-apply-plan --verify-diagnostics=only-expected -o /dev/null
dist.mesh @two<"dp"=2, "tp"=2>
// CHECK-LABEL: dist.plan @found for
// CHECK-NEXT: batch over "dp" microbatch 2 sequences
// CHECK-NEXT: split "embed" dim 0 over "tp"
// CHECK-NEXT: split "layers.*.attn.q.weight" dim 1 over "tp"
// CHECK-NEXT: split "layers.*.attn.kv.weight" dim 2 over "tp"
// CHECK-NEXT: split "layers.*.attn.o.weight" dim 0 over "tp"
// CHECK-NEXT: split "layers.*.mlp.gate_up.weight" dim 2 over "tp"
// CHECK-NEXT: split "layers.*.mlp.down.weight" dim 0 over "tp"
// CHECK-NEXT: split "head.weight" dim 1 over "tp"
// CHECK-NEXT: zero 1 over "dp"
// CHECK-NEXT: }
// REMARK: {{.*}}: remark: `split auto` stands for: split "embed" dim 0 over "tp"; split "layers.*.attn.q.weight" dim 1 over "tp"; split "layers.*.attn.kv.weight" dim 2 over "tp"; split "layers.*.attn.o.weight" dim 0 over "tp"; split "layers.*.mlp.gate_up.weight" dim 2 over "tp"; split "layers.*.mlp.down.weight" dim 0 over "tp"; split "head.weight" dim 1 over "tp"
dist.plan @found for @llama on @two {
  batch over "dp" microbatch 2 sequences
  split auto over "tp"
  zero 1 over "dp"
}
// Nothing is left to split when it has all been split before.
dist.plan @done for @llama on @two {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
  // expected-error-re @+1 {{{{^}}'dist.split' op finds nothing to split over tp, 2 ranks: no dimension of a parameter is large enough, divides, and may be split{{$}}}}
  split auto over "tp"
}
