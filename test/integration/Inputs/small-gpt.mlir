// A GPT whose sizes divide little: hidden 132, 4 heads of 33, feed-forward 263, 27 positions, 257 tokens, 3 layers.
// Over tp = 2 the vocabulary is 129 + 128 rows and the feed-forward 132 + 131; over pp = 2 the layers are 2 + 1. The large
// weights are over 64 KiB, so ZeRO splits them; the rest stays whole.
nn.block @layer(%x: tensor<?x27x132xf32>, %pos: tensor<?x27xi32>) -> tensor<?x27x132xf32> {
  %ln1_g = param "ln_1.weight" : tensor<132xf32> init ones
  %ln1_b = param "ln_1.bias" : tensor<132xf32> init zeros
  %qkv_w = param "attn.qkv.weight" : tensor<132x3x4x33xf32> init normal(0.06)
  %qkv_b = param "attn.qkv.bias" : tensor<3x4x33xf32> init zeros
  %proj_w = param "attn.proj.weight" : tensor<4x33x132xf32> init normal(0.06)
  %proj_b = param "attn.proj.bias" : tensor<132xf32> init zeros
  %n1 = layer_norm %x, %ln1_g, %ln1_b : tensor<?x27x132xf32>, tensor<132xf32>, tensor<132xf32> -> tensor<?x27x132xf32>
  %qkv0 = linear %n1, %qkv_w : tensor<?x27x132xf32>, tensor<132x3x4x33xf32> -> tensor<?x27x3x4x33xf32>
  %qkv = add %qkv0, %qkv_b : tensor<?x27x3x4x33xf32>, tensor<3x4x33xf32> -> tensor<?x27x3x4x33xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x27x3x4x33xf32> -> tensor<?x27x4x33xf32>, tensor<?x27x4x33xf32>, tensor<?x27x4x33xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.17407765595569785) : tensor<?x27x4x33xf32>, tensor<?x27x4x33xf32>, tensor<?x27x4x33xf32>, tensor<?x27xi32>, tensor<?x27xi32> -> tensor<?x27x4x33xf32>
  %p0 = linear %a, %proj_w : tensor<?x27x4x33xf32>, tensor<4x33x132xf32> -> tensor<?x27x132xf32>
  %p = add %p0, %proj_b : tensor<?x27x132xf32>, tensor<132xf32> -> tensor<?x27x132xf32>
  %r = add %x, %p : tensor<?x27x132xf32>, tensor<?x27x132xf32> -> tensor<?x27x132xf32>
  %ln2_g = param "ln_2.weight" : tensor<132xf32> init ones
  %ln2_b = param "ln_2.bias" : tensor<132xf32> init zeros
  %fc_w = param "mlp.fc.weight" : tensor<132x263xf32> init normal(0.06)
  %fc_b = param "mlp.fc.bias" : tensor<263xf32> init zeros
  %out_w = param "mlp.proj.weight" : tensor<263x132xf32> init normal(0.06)
  %out_b = param "mlp.proj.bias" : tensor<132xf32> init zeros
  %n2 = layer_norm %r, %ln2_g, %ln2_b : tensor<?x27x132xf32>, tensor<132xf32>, tensor<132xf32> -> tensor<?x27x132xf32>
  %f0 = linear %n2, %fc_w : tensor<?x27x132xf32>, tensor<132x263xf32> -> tensor<?x27x263xf32>
  %f1 = add %f0, %fc_b : tensor<?x27x263xf32>, tensor<263xf32> -> tensor<?x27x263xf32>
  %f = gelu %f1 : tensor<?x27x263xf32> -> tensor<?x27x263xf32>
  %o0 = linear %f, %out_w : tensor<?x27x263xf32>, tensor<263x132xf32> -> tensor<?x27x132xf32>
  %o = add %o0, %out_b : tensor<?x27x132xf32>, tensor<132xf32> -> tensor<?x27x132xf32>
  %y = add %r, %o : tensor<?x27x132xf32>, tensor<?x27x132xf32> -> tensor<?x27x132xf32>
  return %y : tensor<?x27x132xf32>
}

nn.model @gpt(%tokens: tensor<?x27xi32>, %next: tensor<?x27xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<257x132xf32> init normal(0.06)
  %wpe = param "wpe" : tensor<27x132xf32> init normal(0.06)
  %pos = positions : tensor<?x27xi32>
  %te = embedding %tokens, %wte : tensor<?x27xi32>, tensor<257x132xf32> -> tensor<?x27x132xf32>
  %pe = embedding %pos, %wpe : tensor<?x27xi32>, tensor<27x132xf32> -> tensor<?x27x132xf32>
  %x = add %te, %pe : tensor<?x27x132xf32>, tensor<?x27x132xf32> -> tensor<?x27x132xf32>
  %y = repeat @layer(%x, %pos) 3 as "h" : tensor<?x27x132xf32>, tensor<?x27xi32> -> tensor<?x27x132xf32>
  %g = param "ln_f.weight" : tensor<132xf32> init ones
  %b = param "ln_f.bias" : tensor<132xf32> init zeros
  %n = layer_norm %y, %g, %b : tensor<?x27x132xf32>, tensor<132xf32>, tensor<132xf32> -> tensor<?x27x132xf32>
  %logits = linear transposed %n, %wte : tensor<?x27x132xf32>, tensor<257x132xf32> -> tensor<?x27x257xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x27x257xf32>, tensor<?x27xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// eps is large because Adam divides by sqrt(v) + eps: at 1e-8 a gradient that is zero but for rounding (a key bias's) becomes a full
// step of random sign, and plans would differ by it. From 1e-6 on such gradients stay what they are.
nn.recipe @pretrain for @gpt {
  batch 8 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 2, decay = 100, floor = 1.0e-4)
  clip 1.0
  seed 77
}

dist.mesh @one<"dp"=1>
dist.plan @single for @gpt on @one {
  batch over "dp" microbatch 1 sequences
}
