// Llama 3 405B (Grattafiori et al. 2024): 405,853,388,800 parameters; 128 query heads on 8 KV heads, head of its own.
nn.block @layer(%x: tensor<?x8192x16384xf32>, %pos: tensor<?x8192xi32>) -> tensor<?x8192x16384xf32> {
  // attention
  %n1_g = param "attn_norm.weight" : tensor<16384xf32> init ones
  %q_w = param "attn.q.weight" : tensor<16384x8x16x128xf32> init normal(0.02)
  %kv_w = param "attn.kv.weight" : tensor<16384x2x8x128xf32> init normal(0.02)
  %o_w = param "attn.o.weight" : tensor<8x16x128x16384xf32> init normal(0.02)
  %n1 = rms_norm %x, %n1_g : tensor<?x8192x16384xf32>
  %q0 = linear %n1, %q_w : tensor<?x8192x16384xf32>, tensor<16384x8x16x128xf32> -> tensor<?x8192x8x16x128xf32>
  %kv = linear %n1, %kv_w : tensor<?x8192x16384xf32>, tensor<16384x2x8x128xf32> -> tensor<?x8192x2x8x128xf32>
  %k0, %v = unstack %kv dim 2 : tensor<?x8192x2x8x128xf32> -> tensor<?x8192x8x128xf32>, tensor<?x8192x8x128xf32>
  %q = rope %q0 at %pos theta(500000.0) : tensor<?x8192x8x16x128xf32>, tensor<?x8192xi32> -> tensor<?x8192x8x16x128xf32>
  %k = rope %k0 at %pos theta(500000.0) : tensor<?x8192x8x128xf32>, tensor<?x8192xi32> -> tensor<?x8192x8x128xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.08838834764831845) : tensor<?x8192x8x16x128xf32>, tensor<?x8192x8x128xf32>, tensor<?x8192x8x128xf32>, tensor<?x8192xi32>, tensor<?x8192xi32> -> tensor<?x8192x8x16x128xf32>
  %p = linear %a, %o_w : tensor<?x8192x8x16x128xf32>, tensor<8x16x128x16384xf32> -> tensor<?x8192x16384xf32>
  %r = add %x, %p : tensor<?x8192x16384xf32>
  // feed-forward: silu(gate) * up
  %n2_g = param "mlp_norm.weight" : tensor<16384xf32> init ones
  %up_w = param "mlp.gate_up.weight" : tensor<16384x2x53248xf32> init normal(0.02)
  %down_w = param "mlp.down.weight" : tensor<53248x16384xf32> init normal(0.02)
  %n2 = rms_norm %r, %n2_g : tensor<?x8192x16384xf32>
  %gu = linear %n2, %up_w : tensor<?x8192x16384xf32>, tensor<16384x2x53248xf32> -> tensor<?x8192x2x53248xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x8192x2x53248xf32> -> tensor<?x8192x53248xf32>, tensor<?x8192x53248xf32>
  %s = silu %g : tensor<?x8192x53248xf32>
  %h = mul %s, %u : tensor<?x8192x53248xf32>
  %d = linear %h, %down_w : tensor<?x8192x53248xf32>, tensor<53248x16384xf32> -> tensor<?x8192x16384xf32>
  %y = add %r, %d : tensor<?x8192x16384xf32>
  return %y : tensor<?x8192x16384xf32>
}

nn.model @llama(%tokens: tensor<?x8192xi32>, %next: tensor<?x8192xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<128256x16384xf32> init normal(0.02)
  %pos = positions : tensor<?x8192xi32>
  %x = embedding %tokens, %embed : tensor<?x8192xi32>, tensor<128256x16384xf32> -> tensor<?x8192x16384xf32>
  %y = repeat @layer(%x, %pos) 126 as "layers" : tensor<?x8192x16384xf32>, tensor<?x8192xi32> -> tensor<?x8192x16384xf32>
  %g = param "norm.weight" : tensor<16384xf32> init ones
  %n = rms_norm %y, %g : tensor<?x8192x16384xf32>
  %head = param "head.weight" : tensor<16384x128256xf32> init normal(0.02)
  %logits = linear %n, %head : tensor<?x8192x16384xf32>, tensor<16384x128256xf32> -> tensor<?x8192x128256xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x8192x128256xf32>, tensor<?x8192xi32>
  return %sum, %count : tensor<f32>, tensor<i64>
}

nn.recipe @pretrain for @llama {
  batch 2048 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 8.0e-5, warmup = 8000, decay = 1200000, floor = 8.0e-7)
  clip 1.0
  seed 1234
}

// 16,384 ranks: 14 stages of 8 layers and 2 of 7, 64 data-parallel replicas, 16 tensor-parallel shards on 8 KV heads;
// 32 microbatches a step.
dist.mesh @cluster<"pp"=16, "dp"=64, "cp"=1, "tp"=16>
dist.plan @ptd for @llama on @cluster {
  batch over "dp" microbatch 1 sequences
  split megatron over "tp"
  stages over "pp" schedule "1f1b"
  zero 1 over "dp"
}

// The same ranks for long sequences: 8 tensor-parallel shards, one a KV head, that share norms and residuals along the
// sequence, and each sequence on 2 ranks.
dist.mesh @longer<"pp"=16, "dp"=64, "cp"=2, "tp"=8>
dist.plan @long for @llama on @longer {
  batch over "dp" microbatch 1 sequences
  split megatron over "tp"
  sequence over "tp"
  context over "cp" ring
  stages over "pp" schedule "1f1b"
  zero 1 over {"dp", "cp"}
}
