// DeepSeek-V3 at full size: 61 layers with latent attention, the first 3 dense, the others of 256 experts and a shared one. To be
// compiled and explained, not trained here.
// Multi-head latent attention: queries through 1536 numbers a token, keys and values through 512; the rotary part of a key, 64
// numbers, is one for all heads.
nn.block @attention(%x: tensor<?x4096x7168xf32>, %pos: tensor<?x4096xi32>) -> tensor<?x4096x7168xf32> {
  %qa_w = param "q_a.weight" : tensor<7168x1536xf32> init normal(0.006)
  %qa_g = param "q_a_norm.weight" : tensor<1536xf32> init ones
  %q_w = param "q.weight" : tensor<1536x128x128xf32> init normal(0.006)
  %qr_w = param "q_rope.weight" : tensor<1536x128x64xf32> init normal(0.006)
  %kva_w = param "kv_a.weight" : tensor<7168x512xf32> init normal(0.006)
  %kva_g = param "kv_a_norm.weight" : tensor<512xf32> init ones
  %kr_w = param "k_rope.weight" : tensor<7168x64xf32> init normal(0.006)
  %kv_w = param "kv.weight" : tensor<512x2x128x128xf32> init normal(0.006)
  %o_w = param "o.weight" : tensor<128x128x7168xf32> init normal(0.006)
  %qa = linear %x, %qa_w : tensor<?x4096x7168xf32>, tensor<7168x1536xf32> -> tensor<?x4096x1536xf32>
  %qn = rms_norm %qa, %qa_g eps(1e-6) : tensor<?x4096x1536xf32>
  %q0 = linear %qn, %q_w : tensor<?x4096x1536xf32>, tensor<1536x128x128xf32> -> tensor<?x4096x128x128xf32>
  %qr0 = linear %qn, %qr_w : tensor<?x4096x1536xf32>, tensor<1536x128x64xf32> -> tensor<?x4096x128x64xf32>
  %qr = rope %qr0 at %pos interleaved : tensor<?x4096x128x64xf32>, tensor<?x4096xi32> -> tensor<?x4096x128x64xf32>
  %q = concat %q0, %qr dim 3 : tensor<?x4096x128x128xf32>, tensor<?x4096x128x64xf32> -> tensor<?x4096x128x192xf32>
  %kva = linear %x, %kva_w : tensor<?x4096x7168xf32>, tensor<7168x512xf32> -> tensor<?x4096x512xf32>
  %kvn = rms_norm %kva, %kva_g eps(1e-6) : tensor<?x4096x512xf32>
  %kv = linear %kvn, %kv_w : tensor<?x4096x512xf32>, tensor<512x2x128x128xf32> -> tensor<?x4096x2x128x128xf32>
  %k0, %v = unstack %kv dim 2 : tensor<?x4096x2x128x128xf32> -> tensor<?x4096x128x128xf32>, tensor<?x4096x128x128xf32>
  %kr0 = linear %x, %kr_w : tensor<?x4096x7168xf32>, tensor<7168x64xf32> -> tensor<?x4096x64xf32>
  %kr1 = rope %kr0 at %pos interleaved : tensor<?x4096x64xf32>, tensor<?x4096xi32> -> tensor<?x4096x64xf32>
  %kr = spread %kr1 dim 2 : tensor<?x4096x64xf32> -> tensor<?x4096x128x64xf32>
  %k = concat %k0, %kr dim 3 : tensor<?x4096x128x128xf32>, tensor<?x4096x128x64xf32> -> tensor<?x4096x128x192xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.07216878364870322) : tensor<?x4096x128x192xf32>, tensor<?x4096x128x192xf32>, tensor<?x4096x128x128xf32>, tensor<?x4096xi32>, tensor<?x4096xi32> -> tensor<?x4096x128x128xf32>
  %y = linear %a, %o_w : tensor<?x4096x128x128xf32>, tensor<128x128x7168xf32> -> tensor<?x4096x7168xf32>
  return %y : tensor<?x4096x7168xf32>
}

// The feed-forward of the first layers.
nn.block @dense(%x: tensor<?x4096x7168xf32>) -> tensor<?x4096x7168xf32> {
  %up_w = param "gate_up.weight" : tensor<7168x2x18432xf32> init normal(0.006)
  %down_w = param "down.weight" : tensor<18432x7168xf32> init normal(0.006)
  %gu = linear %x, %up_w : tensor<?x4096x7168xf32>, tensor<7168x2x18432xf32> -> tensor<?x4096x2x18432xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x4096x2x18432xf32> -> tensor<?x4096x18432xf32>, tensor<?x4096x18432xf32>
  %s = silu %g : tensor<?x4096x18432xf32>
  %h = mul %s, %u : tensor<?x4096x18432xf32>
  %y = linear %h, %down_w : tensor<?x4096x18432xf32>, tensor<18432x7168xf32> -> tensor<?x4096x7168xf32>
  return %y : tensor<?x4096x7168xf32>
}

// The expert that every token uses.
nn.block @shared(%x: tensor<?x4096x7168xf32>) -> tensor<?x4096x7168xf32> {
  %up_w = param "gate_up.weight" : tensor<7168x2x2048xf32> init normal(0.006)
  %down_w = param "down.weight" : tensor<2048x7168xf32> init normal(0.006)
  %gu = linear %x, %up_w : tensor<?x4096x7168xf32>, tensor<7168x2x2048xf32> -> tensor<?x4096x2x2048xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x4096x2x2048xf32> -> tensor<?x4096x2048xf32>, tensor<?x4096x2048xf32>
  %s = silu %g : tensor<?x4096x2048xf32>
  %h = mul %s, %u : tensor<?x4096x2048xf32>
  %y = linear %h, %down_w : tensor<?x4096x2048xf32>, tensor<2048x7168xf32> -> tensor<?x4096x7168xf32>
  return %y : tensor<?x4096x7168xf32>
}

// 256 experts, 8 of them for each token, by sigmoid scores; each takes 160 tokens of a sequence: 1.25 times an even share.
nn.block @experts(%x: tensor<?x4096x7168xf32>, %pos: tensor<?x4096xi32>) -> tensor<?x4096x7168xf32> {
  %gate_w = param "gate.weight" : tensor<7168x256xf32> init normal(0.006)
  %up_w = param "experts.gate_up.weight" : tensor<256x7168x2x2048xf32> init normal(0.006)
  %down_w = param "experts.down.weight" : tensor<256x2048x7168xf32> init normal(0.006)
  %logits = router_logits %x, %gate_w : tensor<?x4096x7168xf32>, tensor<7168x256xf32> -> tensor<?x4096x256xf32>
  %weights, %slots, %tokens, %load = router %logits at %pos top 8 sigmoid normalized scale(2.5) : tensor<?x4096x256xf32>, tensor<?x4096xi32> -> tensor<?x4096x8xf32>, tensor<?x4096x8xi32>, tensor<?x256x160xi32>, tensor<?xf32>
  %t = dispatch %x by %slots, %tokens : tensor<?x4096x7168xf32>, tensor<?x4096x8xi32>, tensor<?x256x160xi32> -> tensor<256x?x160x7168xf32>
  %gu = matmul %t, %up_w "e b c h, e h u f -> e b c u f" : tensor<256x?x160x7168xf32>, tensor<256x7168x2x2048xf32> -> tensor<256x?x160x2x2048xf32>
  %g, %u = unstack %gu dim 3 : tensor<256x?x160x2x2048xf32> -> tensor<256x?x160x2048xf32>, tensor<256x?x160x2048xf32>
  %s = silu %g : tensor<256x?x160x2048xf32>
  %h = mul %s, %u : tensor<256x?x160x2048xf32>
  %d = matmul %h, %down_w "e b c f, e f h -> e b c h" : tensor<256x?x160x2048xf32>, tensor<256x2048x7168xf32> -> tensor<256x?x160x7168xf32>
  %routed = combine %d by %slots, %tokens weighted %weights : tensor<256x?x160x7168xf32>, tensor<?x4096x8xi32>, tensor<?x256x160xi32>, tensor<?x4096x8xf32> -> tensor<?x4096x7168xf32>
  %shared = call @shared(%x) as "shared" : tensor<?x4096x7168xf32> -> tensor<?x4096x7168xf32>
  %y = add %routed, %shared : tensor<?x4096x7168xf32>
  return %y : tensor<?x4096x7168xf32>
}

nn.block @dense_layer(%x: tensor<?x4096x7168xf32>, %pos: tensor<?x4096xi32>) -> tensor<?x4096x7168xf32> {
  %g1 = param "attn_norm.weight" : tensor<7168xf32> init ones
  %n1 = rms_norm %x, %g1 eps(1e-6) : tensor<?x4096x7168xf32>
  %a = call @attention(%n1, %pos) as "attn" : tensor<?x4096x7168xf32>, tensor<?x4096xi32> -> tensor<?x4096x7168xf32>
  %r = add %x, %a : tensor<?x4096x7168xf32>
  %g2 = param "mlp_norm.weight" : tensor<7168xf32> init ones
  %n2 = rms_norm %r, %g2 eps(1e-6) : tensor<?x4096x7168xf32>
  %m = call @dense(%n2) as "mlp" : tensor<?x4096x7168xf32> -> tensor<?x4096x7168xf32>
  %y = add %r, %m : tensor<?x4096x7168xf32>
  return %y : tensor<?x4096x7168xf32>
}

nn.block @expert_layer(%x: tensor<?x4096x7168xf32>, %pos: tensor<?x4096xi32>) -> tensor<?x4096x7168xf32> {
  %g1 = param "attn_norm.weight" : tensor<7168xf32> init ones
  %n1 = rms_norm %x, %g1 eps(1e-6) : tensor<?x4096x7168xf32>
  %a = call @attention(%n1, %pos) as "attn" : tensor<?x4096x7168xf32>, tensor<?x4096xi32> -> tensor<?x4096x7168xf32>
  %r = add %x, %a : tensor<?x4096x7168xf32>
  %g2 = param "mlp_norm.weight" : tensor<7168xf32> init ones
  %n2 = rms_norm %r, %g2 eps(1e-6) : tensor<?x4096x7168xf32>
  %m = call @experts(%n2, %pos) as "moe" : tensor<?x4096x7168xf32>, tensor<?x4096xi32> -> tensor<?x4096x7168xf32>
  %y = add %r, %m : tensor<?x4096x7168xf32>
  return %y : tensor<?x4096x7168xf32>
}

nn.model @deepseek(%tokens: tensor<?x4096xi32>, %next: tensor<?x4096xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<129280x7168xf32> init normal(0.006)
  %pos = positions : tensor<?x4096xi32>
  %x = embedding %tokens, %embed : tensor<?x4096xi32>, tensor<129280x7168xf32> -> tensor<?x4096x7168xf32>
  %d = repeat @dense_layer(%x, %pos) 3 as "dense" : tensor<?x4096x7168xf32>, tensor<?x4096xi32> -> tensor<?x4096x7168xf32>
  %y = repeat @expert_layer(%d, %pos) 58 as "layers" : tensor<?x4096x7168xf32>, tensor<?x4096xi32> -> tensor<?x4096x7168xf32>
  %g = param "norm.weight" : tensor<7168xf32> init ones
  %n = rms_norm %y, %g eps(1e-6) : tensor<?x4096x7168xf32>
  %head = param "head.weight" : tensor<7168x129280xf32> init normal(0.006)
  %logits = linear %n, %head : tensor<?x4096x7168xf32>, tensor<7168x129280xf32> -> tensor<?x4096x129280xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x4096x129280xf32>, tensor<?x4096xi32>
  return %sum, %count : tensor<f32>, tensor<i64>
}

nn.recipe @pretrain for @deepseek {
  batch 15360 sequences
  precision params bf16 compute bf16 accumulate f32 reduce f32 master f32
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 2.2e-4, warmup = 2000, decay = 120000, floor = 2.2e-5)
  clip 1.0
  capacity 1.25
  auxiliary_loss 0.0001
  seed 1234
}

// 2048 ranks: 16 stages, 128 data-parallel replicas; experts over 64 of them, so each expert has two homes.
dist.mesh @cluster<"pp"=16, "dp"=128>
dist.plan @ep64 for @deepseek on @cluster {
  batch over "dp" microbatch 1 sequences
  experts over {"dp":(2)64}
  stages over "pp" schedule "1f1b"
  zero 1 over "dp"
}
