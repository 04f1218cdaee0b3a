// Multi-head latent attention as in DeepSeek-V2 (section 2.1): 6 heads, queries through a latent of 40, keys and values through one of 24,
// each with a norm; a query and a key are 20 long, of which the first 8 are rotary, and the rotary part of the key is one for all heads;
// a value is 10 long. Every projection is a parameter of its own, so that nothing is interleaved. Over tp the down projections
// and their norms are whole, the up projections are split by head.
nn.block @layer(%x: tensor<?x25x92xf32>, %pos: tensor<?x25xi32>) -> tensor<?x25x92xf32> {
  %n1_g = param "attn_norm.weight" : tensor<92xf32> init ones
  %qd_w = param "attn.q_down.weight" : tensor<92x40xf32> init normal(0.06)
  %qn_g = param "attn.q_norm.weight" : tensor<40xf32> init ones
  %qu_w = param "attn.q_up.weight" : tensor<40x6x20xf32> init normal(0.1)
  %kvd_w = param "attn.kv_down.weight" : tensor<92x24xf32> init normal(0.06)
  %kvn_g = param "attn.kv_norm.weight" : tensor<24xf32> init ones
  %kr_w = param "attn.k_rope.weight" : tensor<92x8xf32> init normal(0.06)
  %ku_w = param "attn.k_up.weight" : tensor<24x6x12xf32> init normal(0.1)
  %vu_w = param "attn.v_up.weight" : tensor<24x6x10xf32> init normal(0.1)
  %o_w = param "attn.o.weight" : tensor<6x10x92xf32> init normal(0.06)
  %n1 = rms_norm %x, %n1_g : tensor<?x25x92xf32>
  %cq0 = linear %n1, %qd_w : tensor<?x25x92xf32>, tensor<92x40xf32> -> tensor<?x25x40xf32>
  %cq = rms_norm %cq0, %qn_g : tensor<?x25x40xf32>
  %q0 = linear %cq, %qu_w : tensor<?x25x40xf32>, tensor<40x6x20xf32> -> tensor<?x25x6x20xf32>
  %q = rope %q0 at %pos dims(8) : tensor<?x25x6x20xf32>, tensor<?x25xi32> -> tensor<?x25x6x20xf32>
  %ckv0 = linear %n1, %kvd_w : tensor<?x25x92xf32>, tensor<92x24xf32> -> tensor<?x25x24xf32>
  %ckv = rms_norm %ckv0, %kvn_g : tensor<?x25x24xf32>
  %kr0 = linear %n1, %kr_w : tensor<?x25x92xf32>, tensor<92x8xf32> -> tensor<?x25x8xf32>
  %kr1 = rope %kr0 at %pos : tensor<?x25x8xf32>, tensor<?x25xi32> -> tensor<?x25x8xf32>
  %kr = spread %kr1 dim 2 : tensor<?x25x8xf32> -> tensor<?x25x6x8xf32>
  %kn = linear %ckv, %ku_w : tensor<?x25x24xf32>, tensor<24x6x12xf32> -> tensor<?x25x6x12xf32>
  %k = concat %kr, %kn dim 3 : tensor<?x25x6x8xf32>, tensor<?x25x6x12xf32> -> tensor<?x25x6x20xf32>
  %v = linear %ckv, %vu_w : tensor<?x25x24xf32>, tensor<24x6x10xf32> -> tensor<?x25x6x10xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.223606797749979) : tensor<?x25x6x20xf32>, tensor<?x25x6x20xf32>, tensor<?x25x6x10xf32>, tensor<?x25xi32>, tensor<?x25xi32> -> tensor<?x25x6x10xf32>
  %p = linear %a, %o_w : tensor<?x25x6x10xf32>, tensor<6x10x92xf32> -> tensor<?x25x92xf32>
  %r = add %x, %p : tensor<?x25x92xf32>
  %n2_g = param "mlp_norm.weight" : tensor<92xf32> init ones
  %up_w = param "mlp.gate_up.weight" : tensor<92x2x362xf32> init normal(0.06)
  %down_w = param "mlp.down.weight" : tensor<362x92xf32> init normal(0.06)
  %n2 = rms_norm %r, %n2_g : tensor<?x25x92xf32>
  %gu = linear %n2, %up_w : tensor<?x25x92xf32>, tensor<92x2x362xf32> -> tensor<?x25x2x362xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x25x2x362xf32> -> tensor<?x25x362xf32>, tensor<?x25x362xf32>
  %s = silu %g : tensor<?x25x362xf32>
  %h = mul %s, %u : tensor<?x25x362xf32>
  %d = linear %h, %down_w : tensor<?x25x362xf32>, tensor<362x92xf32> -> tensor<?x25x92xf32>
  %y = add %r, %d : tensor<?x25x92xf32>
  return %y : tensor<?x25x92xf32>
}

nn.model @mla(%tokens: tensor<?x25xi32>, %next: tensor<?x25xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<97x92xf32> init normal(0.06)
  %pos = positions : tensor<?x25xi32>
  %x = embedding %tokens, %embed : tensor<?x25xi32>, tensor<97x92xf32> -> tensor<?x25x92xf32>
  %y = repeat @layer(%x, %pos) 2 as "layers" : tensor<?x25x92xf32>, tensor<?x25xi32> -> tensor<?x25x92xf32>
  %g = param "norm.weight" : tensor<92xf32> init ones
  %n = rms_norm %y, %g : tensor<?x25x92xf32>
  %head = param "head.weight" : tensor<92x97xf32> init normal(0.06)
  %logits = linear %n, %head : tensor<?x25x92xf32>, tensor<92x97xf32> -> tensor<?x25x97xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x25x97xf32>, tensor<?x25xi32>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// The large eps keeps Adam from turning rounding noise into steps (see small-gpt.mlir).
nn.recipe @pretrain for @mla {
  batch 8 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 2, decay = 100, floor = 1.0e-4)
  clip 1.0
  seed 77
}

dist.mesh @one<"dp"=1>
dist.plan @single for @mla on @one {
  batch over "dp" microbatch 1 sequences
}
