// Megatron's form of a GPT layer: two all_reduces forward and two backward over activations, none over a weight; one at the
// embedding, one at the head, three numbers a row for the loss. Gradients are joined over dp once a step.
// RUN: cat %S/Inputs/gpt.mlir %s | hocket-opt --nn-pipeline="plan=megatron rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition -o %t
// RUN: hocket-opt --verify-roundtrip %t | sed -n -f %S/Inputs/collectives.sed | FileCheck %s --check-prefix=CHECK
// RUN: cat %S/Inputs/gpt.mlir %s | hocket-opt --nn-pipeline="plan=megatron rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition | FileCheck %s --check-prefix=LOCAL
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @megatron for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
}
// CHECK: all_reduce "tp" tensor<2x3x8xf32> forward : split megatron over tp: embedding of wte#0 sums over v=13
// CHECK-NEXT: all_reduce "tp" tensor<2x3x8xf32> forward : split megatron over tp: linear of h.0.attn.proj sums over n=4
// CHECK-NEXT: all_reduce "tp" tensor<2x3x8xf32> forward : split megatron over tp: linear of h.0.mlp.proj sums over h=10
// CHECK-NEXT: all_reduce "tp" tensor<2x3xf32> forward : split megatron over tp: row_max of wte#1 is an extreme over v=13
// CHECK-NEXT: all_reduce "tp" tensor<2x3xf32> forward : split megatron over tp: row_sum_exp of wte#1 sums over v=13
// CHECK-NEXT: all_reduce "tp" tensor<2x3xf32> forward : split megatron over tp: pick of wte#1 sums over v=13
// CHECK-NEXT: all_reduce "tp" tensor<2x3x8xf32> backward : split megatron over tp: matmul of wte#1 sums over v=13
// CHECK-NEXT: all_reduce "tp" tensor<2x3x8xf32> backward : split megatron over tp: matmul of h.0.mlp.fc sums over f=10
// CHECK-NEXT: all_reduce "tp" tensor<2x3x8xf32> backward : split megatron over tp: matmul of h.0.attn.qkv sums over n=4
// CHECK-NEXT: all_reduce "dp" tensor<7x8xf32> : batch over dp: the gradient of wte is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<3x8xf32> : batch over dp: the gradient of wpe is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.ln_1.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.ln_1.bias is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8x3x2x2xf32> : batch over dp: the gradient of h.0.attn.qkv.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<3x2x2xf32> : batch over dp: the gradient of h.0.attn.qkv.bias is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<2x2x8xf32> : batch over dp: the gradient of h.0.attn.proj.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.attn.proj.bias is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.ln_2.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.ln_2.bias is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8x5xf32> : batch over dp: the gradient of h.0.mlp.fc.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<5xf32> : batch over dp: the gradient of h.0.mlp.fc.bias is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<5x8xf32> : batch over dp: the gradient of h.0.mlp.proj.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.mlp.proj.bias is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of ln_f.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of ln_f.bias is a sum over sequences
// CHECK-NOT: {{.}}

// An uneven vocabulary: 13 rows over 2 are 7 and 6; who reads a row by its number is told where the shard begins, who
// contracts over the vocabulary sees the neutral element in the padding.
// LOCAL: slot param "wte" : tensor<7x8xf32> init normal(0.5) on #dist.shard<tensor<13x8xf32>, #tp_r>
// LOCAL: [[OFFSET:%.*]] = dist.offset of 13 over "tp"
// LOCAL: = embedding %tokens, %{{.*}} offset [[OFFSET]] : tensor<2x3xi32>, tensor<7x8xf32> -> tensor<2x3x8xf32>
// LOCAL: [[LOGITS:%.*]] = linear transposed {{.*}} -> tensor<2x3x7xf32> in "wte#1"
// LOCAL: [[MASKED:%.*]] = dist.mask [[LOGITS]] dim 2 of 13 over "tp" with -inf
// LOCAL: = row_max [[MASKED]]
// LOCAL: = row_sum_exp [[MASKED]]
// LOCAL: = pick [[LOGITS]], %next offset
// LOCAL: = cross_entropy_grad {{.*}}[[LOGITS]]
// LOCAL-DAG: [[DY:%.*]] = dist.mask {{.*}} dim 2 of 13 over "tp" with 0.0 {{.*}} backward
// LOCAL-DAG: [[W:%.*]] = dist.mask {{.*}} dim 0 of 13 over "tp" with 0.0 {{.*}} backward
// LOCAL: = matmul [[DY]], [[W]] "b s v, v h -> b s h"
// Square sums over the same axes are joined in one message, and only then added.
// LOCAL: dist.all_reduce sum %wte_square_sum, {{.*}} over "tp"
// LOCAL: = stack
