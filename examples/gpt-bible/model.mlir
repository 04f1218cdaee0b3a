// A byte-level GPT of 4.8 million parameters, its recipe, and plans. The main job trains it under @ptd on eight ranks.
nn.block @layer(%x: tensor<?x128x256xf32>, %pos: tensor<?x128xi32>) -> tensor<?x128x256xf32> {
  // attention
  %ln1_g = param "ln_1.weight" : tensor<256xf32> init ones
  %ln1_b = param "ln_1.bias" : tensor<256xf32> init zeros
  %qkv_w = param "attn.qkv.weight" : tensor<256x3x8x32xf32> init normal(0.02)
  %qkv_b = param "attn.qkv.bias" : tensor<3x8x32xf32> init zeros
  %proj_w = param "attn.proj.weight" : tensor<8x32x256xf32> init normal(0.005774)
  %proj_b = param "attn.proj.bias" : tensor<256xf32> init zeros
  %n1 = layer_norm %x, %ln1_g, %ln1_b : tensor<?x128x256xf32>, tensor<256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %qkv0 = linear %n1, %qkv_w : tensor<?x128x256xf32>, tensor<256x3x8x32xf32> -> tensor<?x128x3x8x32xf32>
  %qkv = add %qkv0, %qkv_b : tensor<?x128x3x8x32xf32>, tensor<3x8x32xf32> -> tensor<?x128x3x8x32xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x128x3x8x32xf32> -> tensor<?x128x8x32xf32>, tensor<?x128x8x32xf32>, tensor<?x128x8x32xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.17677669529663687) : tensor<?x128x8x32xf32>, tensor<?x128x8x32xf32>, tensor<?x128x8x32xf32>, tensor<?x128xi32>, tensor<?x128xi32> -> tensor<?x128x8x32xf32>
  %p0 = linear %a, %proj_w : tensor<?x128x8x32xf32>, tensor<8x32x256xf32> -> tensor<?x128x256xf32>
  %p = add %p0, %proj_b : tensor<?x128x256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %r = add %x, %p : tensor<?x128x256xf32>, tensor<?x128x256xf32> -> tensor<?x128x256xf32>
  // feed-forward
  %ln2_g = param "ln_2.weight" : tensor<256xf32> init ones
  %ln2_b = param "ln_2.bias" : tensor<256xf32> init zeros
  %fc_w = param "mlp.fc.weight" : tensor<256x1024xf32> init normal(0.02)
  %fc_b = param "mlp.fc.bias" : tensor<1024xf32> init zeros
  %out_w = param "mlp.proj.weight" : tensor<1024x256xf32> init normal(0.005774)
  %out_b = param "mlp.proj.bias" : tensor<256xf32> init zeros
  %n2 = layer_norm %r, %ln2_g, %ln2_b : tensor<?x128x256xf32>, tensor<256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %f0 = linear %n2, %fc_w : tensor<?x128x256xf32>, tensor<256x1024xf32> -> tensor<?x128x1024xf32>
  %f1 = add %f0, %fc_b : tensor<?x128x1024xf32>, tensor<1024xf32> -> tensor<?x128x1024xf32>
  %f = gelu %f1 : tensor<?x128x1024xf32> -> tensor<?x128x1024xf32>
  %o0 = linear %f, %out_w : tensor<?x128x1024xf32>, tensor<1024x256xf32> -> tensor<?x128x256xf32>
  %o = add %o0, %out_b : tensor<?x128x256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %y = add %r, %o : tensor<?x128x256xf32>, tensor<?x128x256xf32> -> tensor<?x128x256xf32>
  return %y : tensor<?x128x256xf32>
}

nn.model @gpt(%tokens: tensor<?x128xi32>, %next: tensor<?x128xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<256x256xf32> init normal(0.02)
  %wpe = param "wpe" : tensor<128x256xf32> init normal(0.02)
  %pos = positions : tensor<?x128xi32>
  %te = embedding %tokens, %wte : tensor<?x128xi32>, tensor<256x256xf32> -> tensor<?x128x256xf32>
  %pe = embedding %pos, %wpe : tensor<?x128xi32>, tensor<128x256xf32> -> tensor<?x128x256xf32>
  %x = add %te, %pe : tensor<?x128x256xf32>, tensor<?x128x256xf32> -> tensor<?x128x256xf32>
  %y = repeat @layer(%x, %pos) 6 as "h" : tensor<?x128x256xf32>, tensor<?x128xi32> -> tensor<?x128x256xf32>
  %g = param "ln_f.weight" : tensor<256xf32> init ones
  %b = param "ln_f.bias" : tensor<256xf32> init zeros
  %n = layer_norm %y, %g, %b : tensor<?x128x256xf32>, tensor<256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %logits = linear transposed %n, %wte : tensor<?x128x256xf32>, tensor<256x256xf32> -> tensor<?x128x256xf32>  // tied to the embedding
  %sum, %count = cross_entropy %logits, %next : tensor<?x128x256xf32>, tensor<?x128xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

nn.recipe @pretrain for @gpt {
  batch 32 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  clip 1.0
  seed 1234
}

dist.mesh @one<"dp"=1>
dist.plan @single for @gpt on @one {
  batch over "dp" microbatch 2 sequences
}

// Eight ranks: two pipeline stages, two data-parallel replicas, two tensor-parallel shards.
dist.mesh @cluster<"pp"=2, "dp"=2, "tp"=2>
dist.plan @ptd for @gpt on @cluster {
  batch over "dp" microbatch 2 sequences
  split "h.*.attn.qkv.weight" dim 2 over "tp"   // column parallel: by head
  split "h.*.attn.proj.weight" dim 0 over "tp"  // row parallel
  split "h.*.mlp.fc.weight" dim 1 over "tp"     // column parallel
  split "h.*.mlp.proj.weight" dim 0 over "tp"   // row parallel
  split "wte" dim 0 over "tp"                   // vocabulary parallel: embedding, head and loss
  stages over "pp" schedule "1f1b"
  zero 1 over "dp"
}
