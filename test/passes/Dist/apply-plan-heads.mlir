// Which degrees heads can be split over (cases D01, D02), and KV heads on more ranks than there are.
// RUN: cat %S/Inputs/llama.mlir %s | hocket-opt --nn-pipeline="plan=three rows=4" --dist-apply-plan --verify-diagnostics=only-expected
// RUN: cat %S/Inputs/llama.mlir %s | hocket-opt --nn-pipeline="plan=four rows=4" --dist-apply-plan | FileCheck %s
dist.mesh @m<"three"=3, "tp"=4>
dist.plan @three for @gpt on @m {
  batch microbatch 4 sequences
  // expected-error-re @+1 {{{{^}}'dist.split' op cannot split 4 heads with 2 KV heads over three, 3 ranks; legal degrees for 4 heads with 2 KV heads: 1, 2, 4{{$}}}}
  split megatron over "three"
  // expected-error-re @+1 {{{{^}}'dist.split' op cannot split 2 KV heads of "layers.0.attn.kv.weight" over tp, 4 ranks; legal degrees for 2 KV heads: 1, 2; `split megatron` also repeats KV heads: 1, 2, 4{{$}}}}
  split "**.attn.kv.weight" dim 2 over "tp"
  // expected-error-re @+1 {{{{^}}'dist.split' op cannot split 2 query heads of each KV head of "layers.0.attn.q.weight" over three, 3 ranks; legal degrees for 2 query heads of each KV head: 1, 2{{$}}}}
  split "**.attn.q.weight" dim 2 over "three"
}
dist.plan @four for @gpt on @m {
  batch microbatch 4 sequences
  split megatron over "tp"
}
// The query heads of a KV head lie on the ranks that repeat it.
// CHECK: slot param "layers.0.attn.q.weight" : tensor<8x2x2x4xf32> init normal(0.4) on #r_tp1x2_tp2x2_r{{$}}
// CHECK: slot param "layers.0.attn.kv.weight" : tensor<8x2x2x4xf32> init normal(0.4) on #r_r_tp1x2_r{{$}}
// CHECK: slot param "layers.0.attn.o.weight" : tensor<2x2x4x8xf32> init normal(0.4) on #tp1x2_tp2x2_r_r{{$}}
// CHECK: slot param "layers.0.mlp.gate_up.weight" : tensor<8x2x12xf32> init normal(0.4) on #r_r_tp{{$}}
