// The gradient of a router's weight under `sequence` over two axes that are not in the mesh's order: it is a sum over both, which its
// accumulator waits for, although the gradient that it is added to contracts the same sequence.
// RUN: hocket-opt %s --pass-pipeline="builtin.module(nn-inline-blocks,nn-build-training-step{rows=2 microbatches=1 plan=plan},nn-decompose-loss,dist-apply-plan{whole-below=0},dist-propagate-shardings,dist-partition,dist-verify-partition)" | hocket-opt | FileCheck %s

// CHECK: matmul %{{.*}}, %{{.*}} "b s h, b s e -> h e" {{.*}} in "h.0.router" weight_grad on [#dist.shard<tensor<3x2xf32>, #r_r_sum_all>]
nn.block @layer(%x: tensor<?x6x3xf32>, %pos: tensor<?x6xi32>) -> tensor<?x6x3xf32> {
  %v0 = param "ln_1.weight" : tensor<3xf32> init normal(0.700)
  %v1 = param "ln_1.bias" : tensor<3xf32> init normal(0.200)
  %v2 = layer_norm %x, %v0, %v1 : tensor<?x6x3xf32>, tensor<3xf32>, tensor<3xf32> -> tensor<?x6x3xf32>
  %v3 = param "attn.qkv.weight" : tensor<3x3x6x2xf32> init normal(0.400)
  %v4 = linear %v2, %v3 : tensor<?x6x3xf32>, tensor<3x3x6x2xf32> -> tensor<?x6x3x6x2xf32>
  %v5, %v6, %v7 = unstack %v4 dim 2 : tensor<?x6x3x6x2xf32> -> tensor<?x6x6x2xf32>, tensor<?x6x6x2xf32>, tensor<?x6x6x2xf32>
  %v8 = attention %v5, %v6, %v7 at %pos, %pos causal scale(0.6) : tensor<?x6x6x2xf32>, tensor<?x6x6x2xf32>, tensor<?x6x6x2xf32>, tensor<?x6xi32>, tensor<?x6xi32> -> tensor<?x6x6x2xf32>
  %v9 = param "attn.proj.weight" : tensor<6x2x3xf32> init normal(0.289)
  %v10 = linear %v8, %v9 : tensor<?x6x6x2xf32>, tensor<6x2x3xf32> -> tensor<?x6x3xf32>
  %v11 = add %x, %v10 : tensor<?x6x3xf32>, tensor<?x6x3xf32> -> tensor<?x6x3xf32>
  %v12 = param "ln_2.weight" : tensor<3xf32> init normal(0.700)
  %v13 = param "ln_2.bias" : tensor<3xf32> init normal(0.200)
  %v14 = layer_norm %v11, %v12, %v13 : tensor<?x6x3xf32>, tensor<3xf32>, tensor<3xf32> -> tensor<?x6x3xf32>
  %v15 = param "router.weight" : tensor<3x2xf32> init normal(0.700)
  %v16 = router_logits %v14, %v15 : tensor<?x6x3xf32>, tensor<3x2xf32> -> tensor<?x6x2xf32>
  %rw, %rs, %rt, %rl = router %v16 at %pos top 1 : tensor<?x6x2xf32>, tensor<?x6xi32> -> tensor<?x6x1xf32>, tensor<?x6x1xi32>, tensor<?x2x3xi32>, tensor<?xf32>
  %v17 = dispatch %v14 by %rs, %rt : tensor<?x6x3xf32>, tensor<?x6x1xi32>, tensor<?x2x3xi32> -> tensor<2x?x3x3xf32>
  %v18 = param "experts.fc.weight" : tensor<2x3x2xf32> init normal(0.400)
  %v19 = matmul %v17, %v18 "e b c h, e h f -> e b c f" : tensor<2x?x3x3xf32>, tensor<2x3x2xf32> -> tensor<2x?x3x2xf32>
  %v20 = gelu %v19 : tensor<2x?x3x2xf32> -> tensor<2x?x3x2xf32>
  %v21 = param "experts.proj.weight" : tensor<2x2x3xf32> init normal(0.400)
  %v22 = matmul %v20, %v21 "e b c f, e f h -> e b c h" : tensor<2x?x3x2xf32>, tensor<2x2x3xf32> -> tensor<2x?x3x3xf32>
  %v23 = combine %v22 by %rs, %rt weighted %rw : tensor<2x?x3x3xf32>, tensor<?x6x1xi32>, tensor<?x2x3xi32>, tensor<?x6x1xf32> -> tensor<?x6x3xf32>
  %v24 = add %v11, %v23 : tensor<?x6x3xf32>, tensor<?x6x3xf32> -> tensor<?x6x3xf32>
  return %v24 : tensor<?x6x3xf32>
}
nn.model @model(%tokens: tensor<?x6xi32>, %next: tensor<?x6xi32>) -> (tensor<f32>, tensor<i64>) {
  %v0 = param "wte" : tensor<3x3xf32> init normal(0.500)
  %v1 = positions : tensor<?x6xi32>
  %v2 = embedding %tokens, %v0 : tensor<?x6xi32>, tensor<3x3xf32> -> tensor<?x6x3xf32>
  %v3 = param "wpe" : tensor<6x3xf32> init normal(0.500)
  %v4 = embedding %v1, %v3 : tensor<?x6xi32>, tensor<6x3xf32> -> tensor<?x6x3xf32>
  %v5 = add %v2, %v4 : tensor<?x6x3xf32>, tensor<?x6x3xf32> -> tensor<?x6x3xf32>
  %v6 = repeat @layer(%v5, %v1) 1 as "h" : tensor<?x6x3xf32>, tensor<?x6xi32> -> tensor<?x6x3xf32>
  %v7 = param "ln_f.weight" : tensor<3xf32> init normal(0.700)
  %v8 = param "ln_f.bias" : tensor<3xf32> init normal(0.200)
  %v9 = layer_norm %v6, %v7, %v8 : tensor<?x6x3xf32>, tensor<3xf32>, tensor<3xf32> -> tensor<?x6x3xf32>
  %v10 = param "head" : tensor<3x3xf32> init normal(0.400)
  %v11 = linear %v9, %v10 : tensor<?x6x3xf32>, tensor<3x3xf32> -> tensor<?x6x3xf32>
  %sum, %count = cross_entropy %v11, %next : tensor<?x6x3xf32>, tensor<?x6xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @recipe for @model {
  batch 2 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-2, warmup = 2, decay = 10, floor = 1.0e-4)
  capacity 1.0
  seed 816
}
dist.mesh @mesh<"all"=12>
dist.plan @plan for @model on @mesh {
  batch over {"all":(1)2} microbatch 1 sequences
  split megatron over {"all":(4)3, "all":(2)2}
  sequence over {"all":(4)3, "all":(2)2}
  zero 2 over {"all":(1)2}
}
