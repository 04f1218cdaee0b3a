// A Llama with 8 query heads on 2 KV heads of 6, hidden 92, feed-forward 362, 25 positions, 97 tokens, 2 layers, untied head.
// Over tp = 4 there are more ranks than KV heads: each KV head lives on two ranks, which share its 4 query heads. The
// feed-forward's weights are over 64 KiB even then, so ZeRO splits them.
nn.block @layer(%x: tensor<?x25x92xf32>, %pos: tensor<?x25xi32>) -> tensor<?x25x92xf32> {
  %n1_g = param "attn_norm.weight" : tensor<92xf32> init ones
  %q_w = param "attn.q.weight" : tensor<92x2x4x6xf32> init normal(0.06)
  %kv_w = param "attn.kv.weight" : tensor<92x2x2x6xf32> init normal(0.06)
  %o_w = param "attn.o.weight" : tensor<2x4x6x92xf32> init normal(0.06)
  %n1 = rms_norm %x, %n1_g : tensor<?x25x92xf32>, tensor<92xf32> -> tensor<?x25x92xf32>
  %q0 = linear %n1, %q_w : tensor<?x25x92xf32>, tensor<92x2x4x6xf32> -> tensor<?x25x2x4x6xf32>
  %kv = linear %n1, %kv_w : tensor<?x25x92xf32>, tensor<92x2x2x6xf32> -> tensor<?x25x2x2x6xf32>
  %k0, %v = unstack %kv dim 2 : tensor<?x25x2x2x6xf32> -> tensor<?x25x2x6xf32>, tensor<?x25x2x6xf32>
  %q = rope %q0 at %pos : tensor<?x25x2x4x6xf32>, tensor<?x25xi32> -> tensor<?x25x2x4x6xf32>
  %k = rope %k0 at %pos : tensor<?x25x2x6xf32>, tensor<?x25xi32> -> tensor<?x25x2x6xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.408248290463863) : tensor<?x25x2x4x6xf32>, tensor<?x25x2x6xf32>, tensor<?x25x2x6xf32>, tensor<?x25xi32>, tensor<?x25xi32> -> tensor<?x25x2x4x6xf32>
  %p = linear %a, %o_w : tensor<?x25x2x4x6xf32>, tensor<2x4x6x92xf32> -> tensor<?x25x92xf32>
  %r = add %x, %p : tensor<?x25x92xf32>, tensor<?x25x92xf32> -> tensor<?x25x92xf32>
  %n2_g = param "mlp_norm.weight" : tensor<92xf32> init ones
  %up_w = param "mlp.gate_up.weight" : tensor<92x2x362xf32> init normal(0.06)
  %down_w = param "mlp.down.weight" : tensor<362x92xf32> init normal(0.06)
  %n2 = rms_norm %r, %n2_g : tensor<?x25x92xf32>, tensor<92xf32> -> tensor<?x25x92xf32>
  %gu = linear %n2, %up_w : tensor<?x25x92xf32>, tensor<92x2x362xf32> -> tensor<?x25x2x362xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x25x2x362xf32> -> tensor<?x25x362xf32>, tensor<?x25x362xf32>
  %s = silu %g : tensor<?x25x362xf32> -> tensor<?x25x362xf32>
  %h = mul %s, %u : tensor<?x25x362xf32>, tensor<?x25x362xf32> -> tensor<?x25x362xf32>
  %d = linear %h, %down_w : tensor<?x25x362xf32>, tensor<362x92xf32> -> tensor<?x25x92xf32>
  %y = add %r, %d : tensor<?x25x92xf32>, tensor<?x25x92xf32> -> tensor<?x25x92xf32>
  return %y : tensor<?x25x92xf32>
}

nn.model @llama(%tokens: tensor<?x25xi32>, %next: tensor<?x25xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<97x92xf32> init normal(0.06)
  %pos = positions : tensor<?x25xi32>
  %x = embedding %tokens, %embed : tensor<?x25xi32>, tensor<97x92xf32> -> tensor<?x25x92xf32>
  %y = repeat @layer(%x, %pos) 2 as "layers" : tensor<?x25x92xf32>, tensor<?x25xi32> -> tensor<?x25x92xf32>
  %g = param "norm.weight" : tensor<92xf32> init ones
  %n = rms_norm %y, %g : tensor<?x25x92xf32>, tensor<92xf32> -> tensor<?x25x92xf32>
  %head = param "head.weight" : tensor<92x97xf32> init normal(0.06)
  %logits = linear %n, %head : tensor<?x25x92xf32>, tensor<92x97xf32> -> tensor<?x25x97xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x25x97xf32>, tensor<?x25xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// The large eps keeps Adam from turning rounding noise into steps (see small-gpt.mlir).
nn.recipe @pretrain for @llama {
  batch 8 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 2, decay = 100, floor = 1.0e-4)
  clip 1.0
  seed 77
}

dist.mesh @one<"dp"=1>
dist.plan @single for @llama on @one {
  batch over "dp" microbatch 1 sequences
}
