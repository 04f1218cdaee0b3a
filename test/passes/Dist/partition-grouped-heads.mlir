// A Llama layer: gradients of q and kv inputs are added before one all_reduce. On more ranks than KV heads the gradients of
// keys and values are joined over the ranks that repeat a head; each of these then takes half of a head into the gradient of the input, so
// that it is joined once.
// RUN: cat %S/Inputs/llama.mlir %s | hocket-opt --nn-pipeline="plan=megatron rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition -o %t
// RUN: hocket-opt --verify-roundtrip %t | sed -n -f %S/Inputs/collectives.sed | FileCheck %s --check-prefix=TWO
// RUN: cat %S/Inputs/llama.mlir %s | hocket-opt --nn-pipeline="plan=four rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition -o %t
// RUN: hocket-opt --verify-roundtrip %t | sed -n -f %S/Inputs/collectives.sed | FileCheck %s --check-prefix=FOUR
dist.mesh @m<"dp"=2, "tp"=2>
dist.mesh @wide<"tp"=4>
dist.plan @megatron for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
}
// TWO: all_reduce "tp" tensor<2x5x8xf32> forward : split megatron over tp: embedding of embed sums over v=11
// TWO-NEXT: all_reduce "tp" tensor<2x5x8xf32> forward : split megatron over tp: linear of layers.0.attn.o sums over c=2
// TWO-NEXT: all_reduce "tp" tensor<2x5x8xf32> forward : split megatron over tp: linear of layers.0.mlp.down sums over h=12
// TWO-NEXT: all_reduce "tp" tensor<2x5xf32> forward : split megatron over tp: row_max of head is an extreme over v=11
// TWO-NEXT: all_reduce "tp" tensor<2x5xf32> forward : split megatron over tp: row_sum_exp of head sums over v=11
// TWO-NEXT: all_reduce "tp" tensor<2x5xf32> forward : split megatron over tp: pick of head sums over v=11
// TWO-NEXT: all_reduce "tp" tensor<2x5x8xf32> backward : split megatron over tp: matmul of head sums over f=11
// TWO-NEXT: all_reduce "tp" tensor<2x5x8xf32> backward : split megatron over tp: matmul of layers.0.mlp.gate_up sums over d=12
// TWO-NEXT: all_reduce "tp" tensor<2x5x8xf32> backward : split megatron over tp: matmul of layers.0.attn.kv sums over n=2
// TWO-NEXT: all_reduce "dp" tensor<6x8xf32> : batch over dp: the gradient of embed is a sum over sequences
// TWO-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of layers.0.attn_norm.weight is a sum over sequences
// TWO-NEXT: all_reduce "dp" tensor<8x1x2x4xf32> : batch over dp: the gradient of layers.0.attn.q.weight is a sum over sequences
// TWO-NEXT: all_reduce "dp" tensor<8x2x1x4xf32> : batch over dp: the gradient of layers.0.attn.kv.weight is a sum over sequences
// TWO-NEXT: all_reduce "dp" tensor<1x2x4x8xf32> : batch over dp: the gradient of layers.0.attn.o.weight is a sum over sequences
// TWO-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of layers.0.mlp_norm.weight is a sum over sequences
// TWO-NEXT: all_reduce "dp" tensor<8x2x6xf32> : batch over dp: the gradient of layers.0.mlp.gate_up.weight is a sum over sequences
// TWO-NEXT: all_reduce "dp" tensor<6x8xf32> : batch over dp: the gradient of layers.0.mlp.down.weight is a sum over sequences
// TWO-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of norm.weight is a sum over sequences
// TWO-NEXT: all_reduce "dp" tensor<8x6xf32> : batch over dp: the gradient of head.weight is a sum over sequences

dist.plan @four for @gpt on @wide {
  batch microbatch 4 sequences
  split megatron over "tp"
}
// FOUR: all_reduce "tp" tensor<4x5x8xf32> forward : split megatron over tp: embedding of embed sums over v=11
// FOUR-NEXT: all_reduce "tp" tensor<4x5x8xf32> forward : split megatron over tp: linear of layers.0.attn.o sums over c=2 and n=2
// FOUR-NEXT: all_reduce "tp" tensor<4x5x8xf32> forward : split megatron over tp: linear of layers.0.mlp.down sums over h=12
// FOUR-NEXT: all_reduce "tp" tensor<4x5xf32> forward : split megatron over tp: row_max of head is an extreme over v=11
// FOUR-NEXT: all_reduce "tp" tensor<4x5xf32> forward : split megatron over tp: row_sum_exp of head sums over v=11
// FOUR-NEXT: all_reduce "tp" tensor<4x5xf32> forward : split megatron over tp: pick of head sums over v=11
// FOUR-NEXT: all_reduce "tp" tensor<4x5x8xf32> backward : split megatron over tp: matmul of head sums over f=11
// FOUR-NEXT: all_reduce "tp" tensor<4x5x8xf32> backward : split megatron over tp: matmul of layers.0.mlp.gate_up sums over d=12
// FOUR-NEXT: all_reduce {"tp":(2)2} tensor<4x5x1x4xf32> backward : split megatron over tp: attention_grad of layers.0.attn sums over g=2
// FOUR-NEXT: all_reduce {"tp":(2)2} tensor<4x5x1x4xf32> backward : split megatron over tp: attention_grad of layers.0.attn sums over g=2
// FOUR-NEXT: all_reduce "tp" tensor<4x5x8xf32> backward : split megatron over tp: matmul of layers.0.attn.kv sums over n=2 and d=4
// FOUR-NEXT: all_reduce {"tp":(1)2} tensor<f32> : split megatron over tp: square_sum of layers.0.attn.kv sums over d2=2
// FOUR-NOT: {{.}}
