// A small Llama: rms_norm, rotary positions, SwiGLU, 8 query heads on 2 KV heads, untied head, byte vocabulary.
nn.block @layer(%x: tensor<?x128x256xf32>, %pos: tensor<?x128xi32>) -> tensor<?x128x256xf32> {
  // attention
  %n1_g = param "attn_norm.weight" : tensor<256xf32> init ones
  %q_w = param "attn.q.weight" : tensor<256x2x4x32xf32> init normal(0.02)
  %kv_w = param "attn.kv.weight" : tensor<256x2x2x32xf32> init normal(0.02)
  %o_w = param "attn.o.weight" : tensor<2x4x32x256xf32> init normal(0.007071)
  %n1 = rms_norm %x, %n1_g : tensor<?x128x256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %q0 = linear %n1, %q_w : tensor<?x128x256xf32>, tensor<256x2x4x32xf32> -> tensor<?x128x2x4x32xf32>
  %kv = linear %n1, %kv_w : tensor<?x128x256xf32>, tensor<256x2x2x32xf32> -> tensor<?x128x2x2x32xf32>
  %k0, %v = unstack %kv dim 2 : tensor<?x128x2x2x32xf32> -> tensor<?x128x2x32xf32>, tensor<?x128x2x32xf32>
  %q = rope %q0 at %pos : tensor<?x128x2x4x32xf32>, tensor<?x128xi32> -> tensor<?x128x2x4x32xf32>
  %k = rope %k0 at %pos : tensor<?x128x2x32xf32>, tensor<?x128xi32> -> tensor<?x128x2x32xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.17677669529663687) : tensor<?x128x2x4x32xf32>, tensor<?x128x2x32xf32>, tensor<?x128x2x32xf32>, tensor<?x128xi32>, tensor<?x128xi32> -> tensor<?x128x2x4x32xf32>
  %p = linear %a, %o_w : tensor<?x128x2x4x32xf32>, tensor<2x4x32x256xf32> -> tensor<?x128x256xf32>
  %r = add %x, %p : tensor<?x128x256xf32>, tensor<?x128x256xf32> -> tensor<?x128x256xf32>
  // feed-forward: silu(gate) * up
  %n2_g = param "mlp_norm.weight" : tensor<256xf32> init ones
  %up_w = param "mlp.gate_up.weight" : tensor<256x2x688xf32> init normal(0.02)
  %down_w = param "mlp.down.weight" : tensor<688x256xf32> init normal(0.007071)
  %n2 = rms_norm %r, %n2_g : tensor<?x128x256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %gu = linear %n2, %up_w : tensor<?x128x256xf32>, tensor<256x2x688xf32> -> tensor<?x128x2x688xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x128x2x688xf32> -> tensor<?x128x688xf32>, tensor<?x128x688xf32>
  %s = silu %g : tensor<?x128x688xf32> -> tensor<?x128x688xf32>
  %h = mul %s, %u : tensor<?x128x688xf32>, tensor<?x128x688xf32> -> tensor<?x128x688xf32>
  %d = linear %h, %down_w : tensor<?x128x688xf32>, tensor<688x256xf32> -> tensor<?x128x256xf32>
  %y = add %r, %d : tensor<?x128x256xf32>, tensor<?x128x256xf32> -> tensor<?x128x256xf32>
  return %y : tensor<?x128x256xf32>
}

nn.model @llama(%tokens: tensor<?x128xi32>, %next: tensor<?x128xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<256x256xf32> init normal(0.02)
  %pos = positions : tensor<?x128xi32>
  %x = embedding %tokens, %embed : tensor<?x128xi32>, tensor<256x256xf32> -> tensor<?x128x256xf32>
  %y = repeat @layer(%x, %pos) 4 as "layers" : tensor<?x128x256xf32>, tensor<?x128xi32> -> tensor<?x128x256xf32>
  %g = param "norm.weight" : tensor<256xf32> init ones
  %n = rms_norm %y, %g : tensor<?x128x256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %head = param "head.weight" : tensor<256x256xf32> init normal(0.02)
  %logits = linear %n, %head : tensor<?x128x256xf32>, tensor<256x256xf32> -> tensor<?x128x256xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x128x256xf32>, tensor<?x128xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

nn.recipe @pretrain for @llama {
  batch 8 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  clip 1.0
  seed 1234
}

dist.mesh @one<"dp"=1>
dist.plan @single for @llama on @one {
  batch over "dp" microbatch 2 sequences
}

// Four tensor-parallel ranks on two KV heads: each KV head lives on two ranks, which share its query heads.
dist.mesh @cluster<"dp"=2, "tp"=4>
dist.plan @dt for @llama on @cluster {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
  zero 1 over "dp"
}
