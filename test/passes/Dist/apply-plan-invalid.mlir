// RUN: cat %S/Inputs/gpt.mlir %s | hocket-opt --nn-pipeline="plan=faults rows=4" --dist-apply-plan --verify-diagnostics=only-expected
// Every fault of a plan is reported.
dist.mesh @m<"dp"=2, "tp"=8>
dist.plan @faults for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.batch' op takes 1 sequences on each of 2 data-parallel ranks, 2 in all, but a microbatch of @train has 4{{$}}}}
  batch over "dp" microbatch 1 sequences
  // expected-error-re @+1 {{{{^}}'dist.split' op names "h.*.attn.qvk.weight", which fits no parameter of @gpt; did you mean "h.*.attn.qkv.weight"?{{$}}}}
  split "h.*.attn.qvk.weight" dim 2 over "tp"
  // expected-error-re @+1 {{{{^}}'dist.split' op names dimension 4 of "h.0.attn.qkv.weight", which has 4; dimensions count from 0{{$}}}}
  split "h.*.attn.qkv.weight" dim 4 over "tp"
  // expected-error-re @+1 {{{{^}}'dist.split' op cannot split 4 heads of "h.0.attn.proj.weight" over tp, 8 ranks; legal degrees for 4 heads: 1, 2, 4{{$}}}}
  split "h.*.attn.proj.weight" dim 0 over "tp"
  // expected-error-re @+1 {{{{^}}'dist.split' op cannot split 4 heads over tp, 8 ranks; legal degrees for 4 heads: 1, 2, 4{{$}}}}
  split megatron over "tp"
  // expected-note-re @+1 {{{{^}}split by this tactic: split wte dim 0 over tp{{$}}}}
  split "wte" dim 0 over "tp"
  // expected-error-re @+1 {{{{^}}'dist.split' op splits dimension 1 of "wte" over tp, but its dimension 0 is split over tp already{{$}}}}
  split "wte" dim 1 over "tp"
}
