// refuses what is legal: refused by dist-partition:
// property --replay property-failures/draw-20261130-1843.mlir --data-seed 542333 --steps 1 --whole-below 0
// draw 1843 of seed 20261130: steps=1 tp2=2 dp=2 tp=2 zero=2 sequenceSplit=1 heads=1 order=27 group=4 sequence=4 ffn=2 vocabulary=3 hidden=3 splitMask=923 splitSeed=228293 seed=542333
nn.block @layer(%x: tensor<?x4x3xf32>, %pos: tensor<?x4xi32>) -> tensor<?x4x3xf32> {
  %v0 = param "ln_1.weight" : tensor<3xf32> init normal(0.700)
  %v1 = param "ln_1.bias" : tensor<3xf32> init normal(0.200)
  %v2 = layer_norm %x, %v0, %v1 : tensor<?x4x3xf32>, tensor<3xf32>, tensor<3xf32> -> tensor<?x4x3xf32>
  %v3 = param "attn.q.weight" : tensor<3x1x4x2xf32> init normal(0.400)
  %v4 = linear %v2, %v3 : tensor<?x4x3xf32>, tensor<3x1x4x2xf32> -> tensor<?x4x1x4x2xf32>
  %v5 = param "attn.kv.weight" : tensor<3x2x1x2xf32> init normal(0.400)
  %v6 = linear %v2, %v5 : tensor<?x4x3xf32>, tensor<3x2x1x2xf32> -> tensor<?x4x2x1x2xf32>
  %v7, %v8 = unstack %v6 dim 2 : tensor<?x4x2x1x2xf32> -> tensor<?x4x1x2xf32>, tensor<?x4x1x2xf32>
  %v9 = attention %v4, %v7, %v8 at %pos, %pos causal scale(0.6) : tensor<?x4x1x4x2xf32>, tensor<?x4x1x2xf32>, tensor<?x4x1x2xf32>, tensor<?x4xi32>, tensor<?x4xi32> -> tensor<?x4x1x4x2xf32>
  %v10 = param "attn.proj.weight" : tensor<1x4x2x3xf32> init normal(0.354)
  %v11 = linear %v9, %v10 : tensor<?x4x1x4x2xf32>, tensor<1x4x2x3xf32> -> tensor<?x4x3xf32>
  %v12 = add %x, %v11 : tensor<?x4x3xf32>, tensor<?x4x3xf32> -> tensor<?x4x3xf32>
  %v13 = param "ln_2.weight" : tensor<3xf32> init normal(0.700)
  %v14 = param "ln_2.bias" : tensor<3xf32> init normal(0.200)
  %v15 = layer_norm %v12, %v13, %v14 : tensor<?x4x3xf32>, tensor<3xf32>, tensor<3xf32> -> tensor<?x4x3xf32>
  %v16 = param "mlp.fc.weight" : tensor<3x2xf32> init normal(0.400)
  %v17 = linear %v15, %v16 : tensor<?x4x3xf32>, tensor<3x2xf32> -> tensor<?x4x2xf32>
  %v18 = gelu %v17 : tensor<?x4x2xf32> -> tensor<?x4x2xf32>
  %v19 = param "mlp.proj.weight" : tensor<2x3xf32> init normal(0.400)
  %v20 = linear %v18, %v19 : tensor<?x4x2xf32>, tensor<2x3xf32> -> tensor<?x4x3xf32>
  %v21 = add %v12, %v20 : tensor<?x4x3xf32>, tensor<?x4x3xf32> -> tensor<?x4x3xf32>
  return %v21 : tensor<?x4x3xf32>
}
nn.model @model(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %v0 = param "wte" : tensor<3x3xf32> init normal(0.500)
  %v1 = positions : tensor<?x4xi32>
  %v2 = embedding %tokens, %v0 : tensor<?x4xi32>, tensor<3x3xf32> -> tensor<?x4x3xf32>
  %v3 = param "wpe" : tensor<4x3xf32> init normal(0.500)
  %v4 = embedding %v1, %v3 : tensor<?x4xi32>, tensor<4x3xf32> -> tensor<?x4x3xf32>
  %v5 = add %v2, %v4 : tensor<?x4x3xf32>, tensor<?x4x3xf32> -> tensor<?x4x3xf32>
  %v6 = repeat @layer(%v5, %v1) 1 as "h" : tensor<?x4x3xf32>, tensor<?x4xi32> -> tensor<?x4x3xf32>
  %v7 = param "ln_f.weight" : tensor<3xf32> init normal(0.700)
  %v8 = param "ln_f.bias" : tensor<3xf32> init normal(0.200)
  %v9 = layer_norm %v6, %v7, %v8 : tensor<?x4x3xf32>, tensor<3xf32>, tensor<3xf32> -> tensor<?x4x3xf32>
  %v10 = param "head" : tensor<3x3xf32> init normal(0.400)
  %v11 = linear %v9, %v10 : tensor<?x4x3xf32>, tensor<3x3xf32> -> tensor<?x4x3xf32>
  %sum, %count = cross_entropy %v11, %next : tensor<?x4x3xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @recipe for @model {
  batch 2 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-2, warmup = 2, decay = 10, floor = 1.0e-4)
  seed 333
}
dist.mesh @mesh<"tp2"=2, "tp"=2, "dp"=2>
dist.plan @plan for @model on @mesh {
  batch over "dp" microbatch 1 sequences
  split megatron over {"tp", "tp2"}
  sequence over {"tp", "tp2"}
  zero 2 over "dp"
}
dist.mesh @one<"dp"=1>
dist.plan @single for @model on @one {
  batch over "dp" microbatch 2 sequences
}
