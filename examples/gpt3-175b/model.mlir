// GPT-3 175B (Brown et al. 2020): 174,604,259,328 parameters, embedding and head tied.
nn.block @layer(%x: tensor<?x2048x12288xf32>, %pos: tensor<?x2048xi32>) -> tensor<?x2048x12288xf32> {
  // attention
  %ln1_g = param "ln_1.weight" : tensor<12288xf32> init ones
  %ln1_b = param "ln_1.bias" : tensor<12288xf32> init zeros
  %qkv_w = param "attn.qkv.weight" : tensor<12288x3x96x128xf32> init normal(0.006)
  %qkv_b = param "attn.qkv.bias" : tensor<3x96x128xf32> init zeros
  %proj_w = param "attn.proj.weight" : tensor<96x128x12288xf32> init normal(0.000433)
  %proj_b = param "attn.proj.bias" : tensor<12288xf32> init zeros
  %n1 = layer_norm %x, %ln1_g, %ln1_b : tensor<?x2048x12288xf32>
  %qkv0 = linear %n1, %qkv_w : tensor<?x2048x12288xf32>, tensor<12288x3x96x128xf32> -> tensor<?x2048x3x96x128xf32>
  %qkv = add %qkv0, %qkv_b : tensor<?x2048x3x96x128xf32>, tensor<3x96x128xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x2048x3x96x128xf32> -> tensor<?x2048x96x128xf32>, tensor<?x2048x96x128xf32>, tensor<?x2048x96x128xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.08838834764831845) : tensor<?x2048x96x128xf32>, tensor<?x2048x96x128xf32>, tensor<?x2048x96x128xf32>, tensor<?x2048xi32>, tensor<?x2048xi32> -> tensor<?x2048x96x128xf32>
  %p0 = linear %a, %proj_w : tensor<?x2048x96x128xf32>, tensor<96x128x12288xf32> -> tensor<?x2048x12288xf32>
  %p = add %p0, %proj_b : tensor<?x2048x12288xf32>, tensor<12288xf32>
  %r = add %x, %p : tensor<?x2048x12288xf32>
  // feed-forward
  %ln2_g = param "ln_2.weight" : tensor<12288xf32> init ones
  %ln2_b = param "ln_2.bias" : tensor<12288xf32> init zeros
  %fc_w = param "mlp.fc.weight" : tensor<12288x49152xf32> init normal(0.006)
  %fc_b = param "mlp.fc.bias" : tensor<49152xf32> init zeros
  %out_w = param "mlp.proj.weight" : tensor<49152x12288xf32> init normal(0.000433)
  %out_b = param "mlp.proj.bias" : tensor<12288xf32> init zeros
  %n2 = layer_norm %r, %ln2_g, %ln2_b : tensor<?x2048x12288xf32>
  %f0 = linear %n2, %fc_w : tensor<?x2048x12288xf32>, tensor<12288x49152xf32> -> tensor<?x2048x49152xf32>
  %f1 = add %f0, %fc_b : tensor<?x2048x49152xf32>, tensor<49152xf32>
  %f = gelu %f1 : tensor<?x2048x49152xf32>
  %o0 = linear %f, %out_w : tensor<?x2048x49152xf32>, tensor<49152x12288xf32> -> tensor<?x2048x12288xf32>
  %o = add %o0, %out_b : tensor<?x2048x12288xf32>, tensor<12288xf32>
  %y = add %r, %o : tensor<?x2048x12288xf32>
  return %y : tensor<?x2048x12288xf32>
}

nn.model @gpt(%tokens: tensor<?x2048xi32>, %next: tensor<?x2048xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<50257x12288xf32> init normal(0.006)
  %wpe = param "wpe" : tensor<2048x12288xf32> init normal(0.006)
  %pos = positions : tensor<?x2048xi32>
  %te = embedding %tokens, %wte : tensor<?x2048xi32>, tensor<50257x12288xf32> -> tensor<?x2048x12288xf32>
  %pe = embedding %pos, %wpe : tensor<?x2048xi32>, tensor<2048x12288xf32> -> tensor<?x2048x12288xf32>
  %x = add %te, %pe : tensor<?x2048x12288xf32>
  %y = repeat @layer(%x, %pos) 96 as "h" : tensor<?x2048x12288xf32>, tensor<?x2048xi32> -> tensor<?x2048x12288xf32>
  %g = param "ln_f.weight" : tensor<12288xf32> init ones
  %b = param "ln_f.bias" : tensor<12288xf32> init zeros
  %n = layer_norm %y, %g, %b : tensor<?x2048x12288xf32>
  %logits = linear transposed %n, %wte : tensor<?x2048x12288xf32>, tensor<50257x12288xf32> -> tensor<?x2048x50257xf32>  // tied to the embedding
  %sum, %count = cross_entropy %logits, %next : tensor<?x2048x50257xf32>, tensor<?x2048xi32>
  return %sum, %count : tensor<f32>, tensor<i64>
}

nn.recipe @pretrain for @gpt {
  batch 1536 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-8, weight_decay = 0.1)
  learning_rate cosine(peak = 6.0e-5, warmup = 430, decay = 430000, floor = 6.0e-6)
  clip 1.0
  seed 1234
}

// 1024 ranks: 16 stages of 6 layers, 8 data-parallel replicas, 8 tensor-parallel shards; 192 microbatches a step.
dist.mesh @cluster<"pp"=16, "dp"=8, "tp"=8>
dist.plan @ptd for @gpt on @cluster {
  batch over "dp" microbatch 1 sequences
  split megatron over "tp"
  stages over "pp" schedule "1f1b"
  zero 1 over "dp"
}
