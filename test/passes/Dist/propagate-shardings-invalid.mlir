// RUN: cat %S/Inputs/gpt.mlir %s | hocket-opt --nn-pipeline="plan=whole rows=4" --dist-apply-plan --dist-propagate-shardings --verify-diagnostics=only-expected 2>&1
// RUN: cat %S/Inputs/gpt.mlir %s | not hocket-opt --nn-pipeline="plan=conflict rows=4" --dist-apply-plan --dist-propagate-shardings 2>&1 | FileCheck %s
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @whole for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.split' op asks for a split that cannot be carried: layer_norm in h.0.ln_1 needs its factor h, of 8, whole{{$}}}}
  split "h.*.ln_1.weight" dim 0 over "tp"
  // expected-error-re @+1 {{{{^}}'dist.split' op asks for a split that cannot be carried: attention in h.0.attn needs its factor d, of 2, whole{{$}}}}
  split "h.*.attn.qkv.weight" dim 3 over "tp"
}
// The output of one product and the contracted dimension of the next would use one axis in one op.
dist.plan @conflict for @gpt on @m {
  split "h.*.mlp.fc.weight" dim 1 over "tp"
  split "h.*.mlp.proj.weight" dim 1 over "tp"
}
// CHECK: error: 'dist.split' op is in conflict with another tactic: in linear in h.0.mlp.proj axis tp would split both
// CHECK: note: the other tactic, through "h.0.mlp.fc.weight"
// CHECK: note: both meet here
// CHECK: note: the split begins at "h.0.mlp.proj.weight"
