// A GPT small enough to read every layer of what it becomes: 2 layers, hidden 128, 4 heads, 8 tokens, bytes as vocabulary.
nn.block @layer(%x: tensor<?x8x128xf32>, %pos: tensor<?x8xi32>) -> tensor<?x8x128xf32> {
  %g1 = param "ln_1.weight" : tensor<128xf32> init ones
  %b1 = param "ln_1.bias" : tensor<128xf32> init zeros
  %n1 = layer_norm %x, %g1, %b1 : tensor<?x8x128xf32>, tensor<128xf32>, tensor<128xf32> -> tensor<?x8x128xf32>
  %wqkv = param "attn.qkv.weight" : tensor<128x3x4x32xf32> init normal(0.02)
  %qkv = linear %n1, %wqkv : tensor<?x8x128xf32>, tensor<128x3x4x32xf32> -> tensor<?x8x3x4x32xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x8x3x4x32xf32> -> tensor<?x8x4x32xf32>, tensor<?x8x4x32xf32>, tensor<?x8x4x32xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.17677669529663687) : tensor<?x8x4x32xf32>, tensor<?x8x4x32xf32>, tensor<?x8x4x32xf32>, tensor<?x8xi32>, tensor<?x8xi32> -> tensor<?x8x4x32xf32>
  %wproj = param "attn.proj.weight" : tensor<4x32x128xf32> init normal(0.01)
  %p = linear %a, %wproj : tensor<?x8x4x32xf32>, tensor<4x32x128xf32> -> tensor<?x8x128xf32>
  %r = add %x, %p : tensor<?x8x128xf32>, tensor<?x8x128xf32> -> tensor<?x8x128xf32>
  %g2 = param "ln_2.weight" : tensor<128xf32> init ones
  %b2 = param "ln_2.bias" : tensor<128xf32> init zeros
  %n2 = layer_norm %r, %g2, %b2 : tensor<?x8x128xf32>, tensor<128xf32>, tensor<128xf32> -> tensor<?x8x128xf32>
  %wfc = param "mlp.fc.weight" : tensor<128x512xf32> init normal(0.02)
  %f = linear %n2, %wfc : tensor<?x8x128xf32>, tensor<128x512xf32> -> tensor<?x8x512xf32>
  %u = gelu %f : tensor<?x8x512xf32> -> tensor<?x8x512xf32>
  %wout = param "mlp.proj.weight" : tensor<512x128xf32> init normal(0.01)
  %o = linear %u, %wout : tensor<?x8x512xf32>, tensor<512x128xf32> -> tensor<?x8x128xf32>
  %y = add %r, %o : tensor<?x8x128xf32>, tensor<?x8x128xf32> -> tensor<?x8x128xf32>
  return %y : tensor<?x8x128xf32>
}

nn.model @gpt(%tokens: tensor<?x8xi32>, %next: tensor<?x8xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<256x128xf32> init normal(0.02)
  %wpe = param "wpe" : tensor<8x128xf32> init normal(0.02)
  %pos = positions : tensor<?x8xi32>
  %te = embedding %tokens, %wte : tensor<?x8xi32>, tensor<256x128xf32> -> tensor<?x8x128xf32>
  %pe = embedding %pos, %wpe : tensor<?x8xi32>, tensor<8x128xf32> -> tensor<?x8x128xf32>
  %x = add %te, %pe : tensor<?x8x128xf32>, tensor<?x8x128xf32> -> tensor<?x8x128xf32>
  %y = repeat @layer(%x, %pos) 2 as "h" : tensor<?x8x128xf32>, tensor<?x8xi32> -> tensor<?x8x128xf32>
  %logits = linear transposed %y, %wte : tensor<?x8x128xf32>, tensor<256x128xf32> -> tensor<?x8x256xf32>  // tied to the embedding
  %sum, %count = cross_entropy %logits, %next : tensor<?x8x256xf32>, tensor<?x8xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

nn.recipe @pretrain for @gpt {
  batch 8 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 10, decay = 200, floor = 1.0e-4)
  clip 1.0
  seed 1234
}

dist.mesh @one<"dp"=1>
dist.plan @single for @gpt on @one {
  batch over "dp" microbatch 2 sequences
}

// Eight ranks: two pipeline stages of one layer each, two data-parallel replicas, two tensor-parallel shards.
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
