// Optimizer state of what is not trained, or of an optimizer that keeps none, is nothing to move; of patterns that name some with and
// some without, those with.
// RUN: sed 's/^  seed 1$/  seed 1\n  group "h.*.ln_1.*" frozen/' %S/Inputs/gpt.mlir > %t.frozen && cat %t.frozen %s > %t.mlir
// RUN: not hocket-opt %t.mlir --nn-pipeline="plan=frozen rows=4" --dist-apply-plan -o /dev/null 2>&1 | FileCheck %s
// CHECK: error: 'dist.offload' op wants the optimizer state of 'h.0.ln_1.{{weight|bias}}', which has none: it is frozen, or its optimizer keeps nothing{{$}}
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=mixed rows=4" --dist-apply-plan -o /dev/null
dist.mesh @m<"dp"=2>
dist.plan @frozen for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  offload optimizer_state "h.*.ln_1.*"
}
dist.plan @mixed for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  offload optimizer_state "h.*.*.*"
}
