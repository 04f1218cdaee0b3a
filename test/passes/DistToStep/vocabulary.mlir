// Under `sequence` a table that is not split is looked up with a slice of the tokens: the vocabulary is its rows all the same.
// RUN: sed 's/?x3x/?x4x/g; s/tensor<3x8x/tensor<4x8x/g' %S/../Dist/Inputs/gpt.mlir > %t.model && cat %t.model %s > %t.mlir
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=whole_table rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition --dist-to-step -o %t.step.mlir
// RUN: hocket-opt --verify-roundtrip %t.step.mlir | FileCheck %s
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @whole_table for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split "h.*.attn.qkv.weight" dim 2 over "tp"
  split "h.*.attn.proj.weight" dim 0 over "tp"
  sequence over "tp"
}
// CHECK: step.job {{.*}} vocabulary 13
