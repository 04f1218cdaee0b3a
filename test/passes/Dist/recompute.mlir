// What is made again stands right before the op of backward that needs it, with the operands of forward: of a layer all but its input
// (full), or what is cheap for its bytes (selective). The judge proves every copy to be one.
// RUN: cat %S/Inputs/gpt.mlir %s > %t.mlir
// DEFINE: %{plan} =
// DEFINE: %{again} = hocket-opt %t.mlir --nn-pipeline="plan=%{plan} rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition --dist-recompute --dist-verify-partition -o %t.local.mlir && hocket-opt --verify-roundtrip %t.local.mlir | sed -n -f %S/Inputs/again.sed
// REDEFINE: %{plan} = full
// RUN: %{again} | FileCheck %s --check-prefix=FULL
// REDEFINE: %{plan} = selective
// RUN: %{again} | FileCheck %s --check-prefix=SELECTIVE
// REDEFINE: %{plan} = attention
// RUN: %{again} | grep ^recompute | FileCheck %s --check-prefix=ATTENTION
// REDEFINE: %{plan} = gathered
// RUN: %{again} | grep -e 'h.0.*dist.all_gather' -e 'recompute.*linear' | FileCheck %s --check-prefix=GATHERED
// REDEFINE: %{plan} = head
// RUN: %{again} | grep ^recompute | FileCheck %s --check-prefix=HEAD
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @full for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
  recompute "h.*" full
}
dist.plan @selective for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
  recompute selective
}
dist.plan @attention for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
  recompute "h.*.attn" selective
}
dist.plan @gathered for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  zero 3 over "dp" gather per_use
  recompute full
}
dist.plan @head for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  recompute "ln_f" selective
}
// The layer's forward, from its input to what the last of its backward needs; the all_reduce behind the last product is not among it.
// FULL: backward h.0.mlp.proj: %h0_mlp_proj_dx = matmul
// FULL-NEXT: recompute h.0.ln_1: %h0_ln_1_again = layer_norm %wpe_add, %h.0.ln_1.weight, %h.0.ln_1.bias
// FULL-NEXT: recompute h.0.attn.qkv: %h0_attn_qkv_again = linear %h0_ln_1_again, %h.0.attn.qkv.weight
// FULL-NEXT: recompute h.0.attn.qkv: %h0_attn_qkv_add_again = add %h0_attn_qkv_again, %h.0.attn.qkv.bias
// FULL-NEXT: recompute h.0.attn: %h0_attn_unstack_again_0, %h0_attn_unstack_again_1, %h0_attn_unstack_again_2 = unstack %h0_attn_qkv_add_again dim 2
// FULL-NEXT: recompute h.0.attn: %h0_attn_attention_again, %h0_attn_attention_again_lse = attention %h0_attn_unstack_again_0, %h0_attn_unstack_again_1, %h0_attn_unstack_again_2 at %positions, %positions causal scale(0.7)
// FULL-NEXT: recompute h.0.attn.proj: %h0_attn_proj_again = linear %h0_attn_attention_again, %h.0.attn.proj.weight
// FULL-NEXT: recompute h.0.attn.proj: %h0_attn_proj_all_reduce_again = dist.all_reduce sum %h0_attn_proj_again over "tp" because "recompute h.* full makes it again: split megatron over tp: linear of h.0.attn.proj sums over n=4"
// FULL-NEXT: recompute h.0.attn.proj: %h0_attn_proj_add_again = add %h0_attn_proj_all_reduce_again, %h.0.attn.proj.bias
// FULL-NEXT: recompute h.0: %h0_add_again = add %wpe_add, %h0_attn_proj_add_again
// FULL-NEXT: recompute h.0.ln_2: %h0_ln_2_again = layer_norm %h0_add_again, %h.0.ln_2.weight, %h.0.ln_2.bias
// FULL-NEXT: recompute h.0.mlp.fc: %h0_mlp_fc_again = linear %h0_ln_2_again, %h.0.mlp.fc.weight
// FULL-NEXT: recompute h.0.mlp.fc: %h0_mlp_fc_add_again = add %h0_mlp_fc_again, %h.0.mlp.fc.bias
// FULL-NEXT: recompute h.0.mlp: %h0_mlp_gelu_again = gelu %h0_mlp_fc_add_again
// FULL-NEXT: weight_grad h.0.mlp.proj: %h0_mlp_proj_grad = matmul %h0_mlp_gelu_again
// FULL-NOT: recompute
// FULL: backward h.0.attn: %h0_attn_attention_grad_dq, %h0_attn_attention_grad_dk, %h0_attn_attention_grad_dv = attention_grad %h0_attn_proj_dx, %h0_attn_unstack_again_0, %h0_attn_unstack_again_1, %h0_attn_unstack_again_2
// FULL-NOT: recompute

// Each right before its use. Products, and sums over ranks, stay as they are: %h0_mlp_fc_add is kept and gives gelu, %h0_add the norm.
// SELECTIVE: backward h.0.mlp.proj: %h0_mlp_proj_dx = matmul
// SELECTIVE-NEXT: recompute h.0.mlp: %h0_mlp_gelu_again = gelu %h0_mlp_fc_add{{$}}
// SELECTIVE-NEXT: weight_grad h.0.mlp.proj: %h0_mlp_proj_grad = matmul %h0_mlp_gelu_again
// SELECTIVE-NOT: recompute
// SELECTIVE: recompute h.0.ln_2: %h0_ln_2_again = layer_norm %h0_add, %h.0.ln_2.weight, %h.0.ln_2.bias
// SELECTIVE-NEXT: weight_grad h.0.mlp.fc: %h0_mlp_fc_grad = matmul %h0_ln_2_again
// SELECTIVE-NOT: recompute
// SELECTIVE: recompute h.0.attn: %h0_attn_attention_again, %h0_attn_attention_again_lse = attention %h0_attn_unstack_0, %h0_attn_unstack_1, %h0_attn_unstack_2 at
// SELECTIVE-NEXT: weight_grad h.0.attn.proj: %h0_attn_proj_grad = matmul %h0_attn_attention_again
// SELECTIVE-NOT: recompute
// SELECTIVE: recompute h.0.ln_1: %h0_ln_1_again = layer_norm %wpe_add, %h.0.ln_1.weight, %h.0.ln_1.bias
// SELECTIVE-NEXT: weight_grad h.0.attn.qkv: %h0_attn_qkv_grad = matmul %h0_ln_1_again
// SELECTIVE-NOT: recompute

// ATTENTION: recompute h.0.attn: %h0_attn_attention_again, %h0_attn_attention_again_lse = attention
// ATTENTION-NOT: recompute

// ZeRO-3: what is made again reads what backward gathers, moved up; only the last product's weight, which nothing is made again with, is
// gathered where it was.
// GATHERED: backward h.0.mlp.proj: %h0_mlp_proj_all_gather_grad = dist.all_gather
// GATHERED-NEXT: backward h.0.attn.qkv: {{.*}} = dist.all_gather %h.0.attn.qkv.weight
// GATHERED-NEXT: recompute h.0.attn.qkv: %h0_attn_qkv_again = linear
// GATHERED-NEXT: backward h.0.attn.proj: {{.*}} = dist.all_gather %h.0.attn.proj.weight
// GATHERED-NEXT: recompute h.0.attn.proj: %h0_attn_proj_again = linear
// GATHERED-NEXT: backward h.0.mlp.fc: {{.*}} = dist.all_gather %h.0.mlp.fc.weight
// GATHERED-NEXT: recompute h.0.mlp.fc: %h0_mlp_fc_again = linear
// GATHERED-NOT: dist.all_gather

// What stands outside of layers can be named too.
// HEAD: recompute ln_f: %ln_f_again = layer_norm %h0_add_1, %ln_f.weight, %ln_f.bias
// HEAD-NOT: recompute
