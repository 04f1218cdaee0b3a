// GPT-2 124M at 4 x 64 tokens, for benchmarks: the same parameters, its position table still 1024 x 768.
nn.block @layer(%x: tensor<?x64x768xf32>, %pos: tensor<?x64xi32>) -> tensor<?x64x768xf32> {
  // attention
  %ln1_g = param "ln_1.weight" : tensor<768xf32> init ones
  %ln1_b = param "ln_1.bias" : tensor<768xf32> init zeros
  %qkv_w = param "attn.qkv.weight" : tensor<768x3x12x64xf32> init normal(0.02)
  %qkv_b = param "attn.qkv.bias" : tensor<3x12x64xf32> init zeros
  %proj_w = param "attn.proj.weight" : tensor<12x64x768xf32> init normal(0.004082)
  %proj_b = param "attn.proj.bias" : tensor<768xf32> init zeros
  %n1 = layer_norm %x, %ln1_g, %ln1_b : tensor<?x64x768xf32>, tensor<768xf32>, tensor<768xf32> -> tensor<?x64x768xf32>
  %qkv0 = linear %n1, %qkv_w : tensor<?x64x768xf32>, tensor<768x3x12x64xf32> -> tensor<?x64x3x12x64xf32>
  %qkv = add %qkv0, %qkv_b : tensor<?x64x3x12x64xf32>, tensor<3x12x64xf32> -> tensor<?x64x3x12x64xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x64x3x12x64xf32> -> tensor<?x64x12x64xf32>, tensor<?x64x12x64xf32>, tensor<?x64x12x64xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.125) : tensor<?x64x12x64xf32>, tensor<?x64x12x64xf32>, tensor<?x64x12x64xf32>, tensor<?x64xi32>, tensor<?x64xi32> -> tensor<?x64x12x64xf32>
  %p0 = linear %a, %proj_w : tensor<?x64x12x64xf32>, tensor<12x64x768xf32> -> tensor<?x64x768xf32>
  %p = add %p0, %proj_b : tensor<?x64x768xf32>, tensor<768xf32> -> tensor<?x64x768xf32>
  %r = add %x, %p : tensor<?x64x768xf32>, tensor<?x64x768xf32> -> tensor<?x64x768xf32>
  // feed-forward
  %ln2_g = param "ln_2.weight" : tensor<768xf32> init ones
  %ln2_b = param "ln_2.bias" : tensor<768xf32> init zeros
  %fc_w = param "mlp.fc.weight" : tensor<768x3072xf32> init normal(0.02)
  %fc_b = param "mlp.fc.bias" : tensor<3072xf32> init zeros
  %out_w = param "mlp.proj.weight" : tensor<3072x768xf32> init normal(0.004082)
  %out_b = param "mlp.proj.bias" : tensor<768xf32> init zeros
  %n2 = layer_norm %r, %ln2_g, %ln2_b : tensor<?x64x768xf32>, tensor<768xf32>, tensor<768xf32> -> tensor<?x64x768xf32>
  %f0 = linear %n2, %fc_w : tensor<?x64x768xf32>, tensor<768x3072xf32> -> tensor<?x64x3072xf32>
  %f1 = add %f0, %fc_b : tensor<?x64x3072xf32>, tensor<3072xf32> -> tensor<?x64x3072xf32>
  %f = gelu %f1 : tensor<?x64x3072xf32> -> tensor<?x64x3072xf32>
  %o0 = linear %f, %out_w : tensor<?x64x3072xf32>, tensor<3072x768xf32> -> tensor<?x64x768xf32>
  %o = add %o0, %out_b : tensor<?x64x768xf32>, tensor<768xf32> -> tensor<?x64x768xf32>
  %y = add %r, %o : tensor<?x64x768xf32>, tensor<?x64x768xf32> -> tensor<?x64x768xf32>
  return %y : tensor<?x64x768xf32>
}

nn.model @gpt(%tokens: tensor<?x64xi32>, %next: tensor<?x64xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<50257x768xf32> init normal(0.02)
  %wpe = param "wpe" : tensor<1024x768xf32> init normal(0.02)
  %pos = positions : tensor<?x64xi32>
  %te = embedding %tokens, %wte : tensor<?x64xi32>, tensor<50257x768xf32> -> tensor<?x64x768xf32>
  %pe = embedding %pos, %wpe : tensor<?x64xi32>, tensor<1024x768xf32> -> tensor<?x64x768xf32>
  %x = add %te, %pe : tensor<?x64x768xf32>, tensor<?x64x768xf32> -> tensor<?x64x768xf32>
  %y = repeat @layer(%x, %pos) 12 as "h" : tensor<?x64x768xf32>, tensor<?x64xi32> -> tensor<?x64x768xf32>
  %g = param "ln_f.weight" : tensor<768xf32> init ones
  %b = param "ln_f.bias" : tensor<768xf32> init zeros
  %n = layer_norm %y, %g, %b : tensor<?x64x768xf32>, tensor<768xf32>, tensor<768xf32> -> tensor<?x64x768xf32>
  %logits = linear transposed %n, %wte : tensor<?x64x768xf32>, tensor<50257x768xf32> -> tensor<?x64x50257xf32>  // tied to the embedding
  %sum, %count = cross_entropy %logits, %next : tensor<?x64x50257xf32>, tensor<?x64xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

nn.recipe @pretrain for @gpt {
  batch 4 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 6.0e-4, warmup = 100, decay = 10000, floor = 6.0e-5)
  clip 1.0
  seed 1234
}

dist.mesh @one<"dp"=1>
dist.plan @single for @gpt on @one {
  batch over "dp" microbatch 4 sequences
}
