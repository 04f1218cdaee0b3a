// Sequence parallelism of a GPT layer and of a Llama layer on more ranks than KV heads: two gathers and two scatters forward, as many
// backward, and two gathers again of what the forward kept split; none of a weight. What tp ranks hold alike (norm gains, biases of row
// splits, learned positions) has gradients that are partial over tp until update.
// RUN: sed 's/?x3x/?x4x/g; s/tensor<3x8x/tensor<4x8x/g' %S/Inputs/gpt.mlir > %t.mlir.model && cat %t.mlir.model %s > %t.mlir
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=two rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition --dist-verify-partition -o %t.local
// RUN: hocket-opt --verify-roundtrip %t.local | sed -n -f %S/Inputs/collectives.sed | FileCheck %s --check-prefix=GPT
// RUN: sed 's/?x5x/?x8x/g' %S/Inputs/llama.mlir > %t.llama.mlir.model && cat %t.llama.mlir.model %s > %t.llama.mlir
// RUN: hocket-opt %t.llama.mlir --nn-pipeline="plan=grouped rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition --dist-verify-partition -o %t.local
// RUN: hocket-opt --verify-roundtrip %t.local | sed -n -f %S/Inputs/collectives.sed | FileCheck %s --check-prefix=LLAMA
dist.mesh @m<"dp"=2, "tp"=2>
dist.mesh @wide<"tp"=4>
dist.plan @two for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
  sequence over "tp"
}
dist.plan @grouped for @gpt on @wide {
  batch microbatch 4 sequences
  split megatron over "tp"
  sequence over "tp"
}

// A GPT layer.
// GPT: reduce_scatter "tp" tensor<2x2x8xf32> forward : split megatron over tp: embedding of wte#0 sums over v=13
// GPT-NEXT: all_gather "tp" tensor<2x4x8xf32> forward : sequence over tp: linear of h.0.attn.qkv needs s whole
// GPT-NEXT: reduce_scatter "tp" tensor<2x2x8xf32> forward : split megatron over tp: linear of h.0.attn.proj sums over n=4
// GPT-NEXT: all_gather "tp" tensor<2x4x8xf32> forward : sequence over tp: linear of h.0.mlp.fc needs s whole
// GPT-NEXT: reduce_scatter "tp" tensor<2x2x8xf32> forward : split megatron over tp: linear of h.0.mlp.proj sums over h=10
// GPT-NEXT: all_gather "tp" tensor<2x4x8xf32> forward : sequence over tp: linear of wte#1 needs s whole
// GPT-NEXT: all_reduce "tp" tensor<2x4xf32> forward : split megatron over tp: row_max of wte#1 is an extreme over v=13
// GPT-NEXT: all_reduce "tp" tensor<2x4xf32> forward : split megatron over tp: row_sum_exp of wte#1 sums over v=13
// GPT-NEXT: all_reduce "tp" tensor<2x4xf32> forward : split megatron over tp: pick of wte#1 sums over v=13
// GPT-NEXT: reduce_scatter "tp" tensor<2x2x8xf32> backward : split megatron over tp: matmul of wte#1 sums over v=13
// GPT-NEXT: all_gather "tp" tensor<2x4x8xf32> weight_grad : sequence over tp: matmul of wte#1 needs s whole
// GPT-NEXT: all_gather "tp" tensor<2x4x8xf32> backward : sequence over tp: matmul of h.0.mlp.proj needs s whole
// GPT-NEXT: reduce_scatter "tp" tensor<2x2x8xf32> backward : split megatron over tp: matmul of h.0.mlp.fc sums over f=10
// GPT-NEXT: all_gather "tp" tensor<2x4x8xf32> weight_grad : sequence over tp: matmul of h.0.mlp.fc needs s whole
// GPT-NEXT: all_gather "tp" tensor<2x4x8xf32> backward : sequence over tp: matmul of h.0.attn.proj needs s whole
// GPT-NEXT: reduce_scatter "tp" tensor<2x2x8xf32> backward : split megatron over tp: matmul of h.0.attn.qkv sums over n=4
// GPT-NEXT: all_gather "tp" tensor<2x4x8xf32> weight_grad : sequence over tp: matmul of h.0.attn.qkv needs s whole
// GPT-NEXT: all_gather "tp" tensor<2x4x8xf32> weight_grad : sequence over tp: embedding_grad of wte#0 needs s whole
// GPT-NOT: {{forward|backward|weight_grad}} :
// Once a step, over data and tensor ranks together.
// GPT: all_reduce {"dp", "tp"} tensor<8xf32> : batch over dp: the gradient of h.0.ln_1.weight is a sum over sequences
// GPT: all_reduce "dp" tensor<8x3x2x2xf32> : batch over dp: the gradient of h.0.attn.qkv.weight is a sum over sequences

// A Llama layer with 2 KV heads on 4 ranks.
// LLAMA: reduce_scatter "tp" tensor<4x2x8xf32> forward : split megatron over tp: embedding of embed sums over v=11
// LLAMA-NEXT: all_gather "tp" tensor<4x8x8xf32> forward : sequence over tp: linear of layers.0.attn.q needs s whole
// LLAMA-NEXT: reduce_scatter "tp" tensor<4x2x8xf32> forward : split megatron over tp: linear of layers.0.attn.o sums over c=2 and n=2
// LLAMA-NEXT: all_gather "tp" tensor<4x8x8xf32> forward : sequence over tp: linear of layers.0.mlp.gate_up needs s whole
// LLAMA-NEXT: reduce_scatter "tp" tensor<4x2x8xf32> forward : split megatron over tp: linear of layers.0.mlp.down sums over h=12
// LLAMA-NEXT: all_gather "tp" tensor<4x8x8xf32> forward : sequence over tp: linear of head needs s whole
// LLAMA-NEXT: all_reduce "tp" tensor<4x8xf32> forward : split megatron over tp: row_max of head is an extreme over v=11
// LLAMA-NEXT: all_reduce "tp" tensor<4x8xf32> forward : split megatron over tp: row_sum_exp of head sums over v=11
// LLAMA-NEXT: all_reduce "tp" tensor<4x8xf32> forward : split megatron over tp: pick of head sums over v=11
// LLAMA-NEXT: reduce_scatter "tp" tensor<4x2x8xf32> backward : split megatron over tp: matmul of head sums over f=11
// LLAMA-NEXT: all_gather "tp" tensor<4x8x8xf32> weight_grad : sequence over tp: matmul of head needs s whole
// LLAMA-NEXT: all_gather "tp" tensor<4x8x8xf32> backward : sequence over tp: matmul of layers.0.mlp.down needs s whole
// LLAMA-NEXT: reduce_scatter "tp" tensor<4x2x8xf32> backward : split megatron over tp: matmul of layers.0.mlp.gate_up sums over d=12
// LLAMA-NEXT: all_gather "tp" tensor<4x8x8xf32> weight_grad : sequence over tp: matmul of layers.0.mlp.gate_up needs s whole
// LLAMA-NEXT: all_gather "tp" tensor<4x8x8xf32> backward : sequence over tp: matmul of layers.0.attn.o needs s whole
// LLAMA-NEXT: all_reduce {"tp":(2)2} tensor<4x8x1x4xf32> backward : split megatron over tp: attention_grad of layers.0.attn sums over g=2
// LLAMA-NEXT: all_reduce {"tp":(2)2} tensor<4x8x1x4xf32> backward : split megatron over tp: attention_grad of layers.0.attn sums over g=2
// LLAMA-NEXT: all_gather "tp" tensor<4x8x8xf32> weight_grad : sequence over tp: matmul of layers.0.attn.kv needs s whole
// LLAMA-NEXT: reduce_scatter "tp" tensor<4x2x8xf32> backward : split megatron over tp: matmul of layers.0.attn.kv sums over n=2 and d=4
// LLAMA-NEXT: all_gather "tp" tensor<4x8x8xf32> weight_grad : sequence over tp: embedding_grad of embed needs s whole
// LLAMA-NOT: {{forward|backward|weight_grad}} :
// LLAMA: all_reduce "tp" tensor<8xf32> : sequence over tp: the gradient of layers.0.attn_norm.weight is a sum over tokens
