// refuses what is legal: refused by dist-partition:
// property --replay property-failures/draw-20261130-1197.mlir --data-seed 319372 --steps 1 --whole-below 0
// draw 1197 of seed 20261130: steps=1 dp2=2 tp2=2 tp=2 zero=2 sequenceSplit=1 oneAxis=1 reversed=1 heads=3 kvHeads=4 sequence=4 ffn=2 vocabulary=3 splitMask=705 splitSeed=720156 seed=319372
nn.block @layer(%x: tensor<?x4x4xf32>, %pos: tensor<?x4xi32>) -> tensor<?x4x4xf32> {
  %v0 = param "ln_1.weight" : tensor<4xf32> init normal(0.700)
  %v1 = param "ln_1.bias" : tensor<4xf32> init normal(0.200)
  %v2 = layer_norm %x, %v0, %v1 : tensor<?x4x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x4x4xf32>
  %v3 = param "attn.q_a.weight" : tensor<4x3xf32> init normal(0.400)
  %v4 = linear %v2, %v3 : tensor<?x4x4xf32>, tensor<4x3xf32> -> tensor<?x4x3xf32>
  %v5 = param "attn.q_a_norm.weight" : tensor<3xf32> init normal(0.700)
  %v6 = rms_norm %v4, %v5 : tensor<?x4x3xf32>, tensor<3xf32> -> tensor<?x4x3xf32>
  %v7 = param "attn.kv_a.weight" : tensor<4x3xf32> init normal(0.400)
  %v8 = linear %v2, %v7 : tensor<?x4x4xf32>, tensor<4x3xf32> -> tensor<?x4x3xf32>
  %v9 = param "attn.kv_a_norm.weight" : tensor<3xf32> init normal(0.700)
  %v10 = rms_norm %v8, %v9 : tensor<?x4x3xf32>, tensor<3xf32> -> tensor<?x4x3xf32>
  %v11 = param "attn.q.weight" : tensor<3x4x2xf32> init normal(0.400)
  %v12 = linear %v6, %v11 : tensor<?x4x3xf32>, tensor<3x4x2xf32> -> tensor<?x4x4x2xf32>
  %v13 = param "attn.q_rope.weight" : tensor<3x4x2xf32> init normal(0.400)
  %v14 = linear %v6, %v13 : tensor<?x4x3xf32>, tensor<3x4x2xf32> -> tensor<?x4x4x2xf32>
  %v15 = rope %v14 at %pos interleaved : tensor<?x4x4x2xf32>, tensor<?x4xi32> -> tensor<?x4x4x2xf32>
  %v16 = concat %v12, %v15 dim 3 : tensor<?x4x4x2xf32>, tensor<?x4x4x2xf32> -> tensor<?x4x4x4xf32>
  %v17 = param "attn.kv.weight" : tensor<3x2x4x2xf32> init normal(0.400)
  %v18 = linear %v10, %v17 : tensor<?x4x3xf32>, tensor<3x2x4x2xf32> -> tensor<?x4x2x4x2xf32>
  %v19, %v20 = unstack %v18 dim 2 : tensor<?x4x2x4x2xf32> -> tensor<?x4x4x2xf32>, tensor<?x4x4x2xf32>
  %v21 = param "attn.k_rope.weight" : tensor<4x2xf32> init normal(0.400)
  %v22 = linear %v2, %v21 : tensor<?x4x4xf32>, tensor<4x2xf32> -> tensor<?x4x2xf32>
  %v23 = rope %v22 at %pos interleaved : tensor<?x4x2xf32>, tensor<?x4xi32> -> tensor<?x4x2xf32>
  %v24 = spread %v23 dim 2 : tensor<?x4x2xf32> -> tensor<?x4x4x2xf32>
  %v25 = concat %v19, %v24 dim 3 : tensor<?x4x4x2xf32>, tensor<?x4x4x2xf32> -> tensor<?x4x4x4xf32>
  %v26 = attention %v16, %v25, %v20 at %pos, %pos causal scale(0.6) : tensor<?x4x4x4xf32>, tensor<?x4x4x4xf32>, tensor<?x4x4x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x4x2xf32>
  %v27 = param "attn.proj.weight" : tensor<4x2x4xf32> init normal(0.354)
  %v28 = linear %v26, %v27 : tensor<?x4x4x2xf32>, tensor<4x2x4xf32> -> tensor<?x4x4xf32>
  %v29 = add %x, %v28 : tensor<?x4x4xf32>, tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  %v30 = param "ln_2.weight" : tensor<4xf32> init normal(0.700)
  %v31 = param "ln_2.bias" : tensor<4xf32> init normal(0.200)
  %v32 = layer_norm %v29, %v30, %v31 : tensor<?x4x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x4x4xf32>
  %v33 = param "mlp.fc.weight" : tensor<4x2xf32> init normal(0.400)
  %v34 = linear %v32, %v33 : tensor<?x4x4xf32>, tensor<4x2xf32> -> tensor<?x4x2xf32>
  %v35 = gelu %v34 : tensor<?x4x2xf32> -> tensor<?x4x2xf32>
  %v36 = param "mlp.proj.weight" : tensor<2x4xf32> init normal(0.400)
  %v37 = linear %v35, %v36 : tensor<?x4x2xf32>, tensor<2x4xf32> -> tensor<?x4x4xf32>
  %v38 = add %v29, %v37 : tensor<?x4x4xf32>, tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  return %v38 : tensor<?x4x4xf32>
}
nn.model @model(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %v0 = param "wte" : tensor<3x4xf32> init normal(0.500)
  %v1 = positions : tensor<?x4xi32>
  %v2 = embedding %tokens, %v0 : tensor<?x4xi32>, tensor<3x4xf32> -> tensor<?x4x4xf32>
  %v3 = param "wpe" : tensor<4x4xf32> init normal(0.500)
  %v4 = embedding %v1, %v3 : tensor<?x4xi32>, tensor<4x4xf32> -> tensor<?x4x4xf32>
  %v5 = add %v2, %v4 : tensor<?x4x4xf32>, tensor<?x4x4xf32> -> tensor<?x4x4xf32>
  %v6 = repeat @layer(%v5, %v1) 1 as "h" : tensor<?x4x4xf32>, tensor<?x4xi32> -> tensor<?x4x4xf32>
  %v7 = param "ln_f.weight" : tensor<4xf32> init normal(0.700)
  %v8 = param "ln_f.bias" : tensor<4xf32> init normal(0.200)
  %v9 = layer_norm %v6, %v7, %v8 : tensor<?x4x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x4x4xf32>
  %v10 = param "head" : tensor<4x3xf32> init normal(0.400)
  %v11 = linear %v9, %v10 : tensor<?x4x4xf32>, tensor<4x3xf32> -> tensor<?x4x3xf32>
  %sum, %count = cross_entropy %v11, %next : tensor<?x4x3xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @recipe for @model {
  batch 2 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-2, warmup = 2, decay = 10, floor = 1.0e-4)
  seed 372
}
dist.mesh @mesh<"all"=8>
dist.plan @plan for @model on @mesh {
  batch over {"all":(2)2} microbatch 1 sequences
  split megatron over {"all":(4)2, "all":(1)2}
  sequence over {"all":(4)2, "all":(1)2}
  zero 2 over {"all":(2)2}
}
dist.mesh @one<"dp"=1>
dist.plan @single for @model on @one {
  batch over "dp" microbatch 2 sequences
}
