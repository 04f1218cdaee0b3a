// RUN: split-file %s %t
// RUN: sed 's/batch 8/batch 24/' %S/Inputs/moe.mlir > %t/moe.mlir
// RUN: cat %t/moe.mlir %t/degree.mlir > %t/degree-all.mlir && hocket-opt %t/degree-all.mlir --nn-pipeline="plan=p rows=24" --dist-apply-plan --verify-diagnostics=only-expected
// RUN: cat %t/moe.mlir %t/axes.mlir > %t/axes-all.mlir && hocket-opt %t/axes-all.mlir --nn-pipeline="plan=p rows=24" --dist-apply-plan --verify-diagnostics=only-expected
// RUN: cat %t/moe.mlir %t/twice.mlir > %t/twice-all.mlir && hocket-opt %t/twice-all.mlir --nn-pipeline="plan=p rows=24" --dist-apply-plan --verify-diagnostics=only-expected
// RUN: cat %S/Inputs/gpt.mlir %t/none.mlir > %t/none-all.mlir && hocket-opt %t/none-all.mlir --nn-pipeline="plan=p rows=4" --dist-apply-plan --verify-diagnostics=only-expected

//--- degree.mlir
dist.mesh @m<"dp"=3>
dist.plan @p for @moe on @m {
  batch over "dp" microbatch 8 sequences
  // expected-error-re @+1 {{{{^}}'dist.experts' op cannot split 4 experts over dp, 3 ranks; legal degrees for 4 experts: 1, 2, 4{{$}}}}
  experts over "dp"
}

//--- axes.mlir
dist.mesh @m<"dp"=4>
dist.plan @p for @moe on @m {
  // expected-note-re @+1 {{{{^}}batch split here{{$}}}}
  batch over "dp" microbatch 6 sequences
  // expected-error-re @+1 {{{{^}}'dist.experts' op splits experts over dp:(1)2, but the last axes that split the batch are dp:(2)2: ranks that exchange tokens must hold sequences that lie side by side; expected dp:(2)2 for 2 of the 4 ranks{{$}}}}
  experts over {"dp":(1)2}
}

//--- twice.mlir
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @p for @moe on @m {
  batch over "dp" microbatch 12 sequences
  // expected-note-re @+1 {{{{^}}split by this tactic: split h.*.experts.up.weight dim 2 over tp{{$}}}}
  split "h.*.experts.up.weight" dim 2 over "tp"
  // expected-error-re @+1 {{{{^}}'dist.experts' op splits dimension 0 of "h.0.experts.up.weight" over tp, but its dimension 2 is split over tp already{{$}}}}
  experts over "tp"
}

//--- none.mlir
dist.mesh @m<"dp"=2>
dist.plan @p for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  // expected-error-re @+1 {{{{^}}'dist.experts' op finds no experts in @gpt; weights of experts are those that dispatch or combine leads to by a product{{$}}}}
  experts over "dp"
}
