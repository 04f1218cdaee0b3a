// A region is written for axes of one size; a mesh that has others, or lacks one, is told so.
// RUN: cat %S/Inputs/local.mlir %s | not hocket-opt --nn-pipeline="plan=four rows=4 microbatches=2" --dist-apply-plan --dist-propagate-shardings 2>&1 | FileCheck %s --check-prefix=FOUR
// RUN: cat %S/Inputs/local.mlir %s | not hocket-opt --nn-pipeline="plan=none rows=4 microbatches=2" --dist-apply-plan --dist-propagate-shardings 2>&1 | FileCheck %s --check-prefix=NONE
dist.mesh @m<"tp"=4>
dist.plan @four for @gpt on @m {
  batch over {} microbatch 4 sequences
}
dist.mesh @n<"dp"=2>
dist.plan @none for @gpt on @n {
  batch over "dp" microbatch 2 sequences
}
// FOUR: error: 'dist.local' op is written for "tp" of 2 ranks, but mesh @m has 4 there
// FOUR: note: mesh declared here
// NONE: error: 'dist.local' op is written for "tp" of 2 ranks, but mesh @n has no such axis
// NONE: note: mesh declared here
