// One layer of GPT: 4 heads of 2, hidden 8, feed-forward 10, vocabulary 13, sequence 3.
nn.block @layer(%x: tensor<?x3x8xf32>, %pos: tensor<?x3xi32>) -> tensor<?x3x8xf32> {
  %g1 = param "ln_1.weight" : tensor<8xf32> init ones
  %b1 = param "ln_1.bias" : tensor<8xf32> init normal(0.2)
  %qkv_w = param "attn.qkv.weight" : tensor<8x3x4x2xf32> init normal(0.4)
  %qkv_b = param "attn.qkv.bias" : tensor<3x4x2xf32> init normal(0.2)
  %proj_w = param "attn.proj.weight" : tensor<4x2x8xf32> init normal(0.4)
  %proj_b = param "attn.proj.bias" : tensor<8xf32> init normal(0.2)
  %n1 = layer_norm %x, %g1, %b1 : tensor<?x3x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<?x3x8xf32>
  %qkv0 = linear %n1, %qkv_w : tensor<?x3x8xf32>, tensor<8x3x4x2xf32> -> tensor<?x3x3x4x2xf32>
  %qkv = add %qkv0, %qkv_b : tensor<?x3x3x4x2xf32>, tensor<3x4x2xf32> -> tensor<?x3x3x4x2xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x3x3x4x2xf32> -> tensor<?x3x4x2xf32>, tensor<?x3x4x2xf32>, tensor<?x3x4x2xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.7) : tensor<?x3x4x2xf32>, tensor<?x3x4x2xf32>, tensor<?x3x4x2xf32>, tensor<?x3xi32>, tensor<?x3xi32> -> tensor<?x3x4x2xf32>
  %p0 = linear %a, %proj_w : tensor<?x3x4x2xf32>, tensor<4x2x8xf32> -> tensor<?x3x8xf32>
  %p = add %p0, %proj_b : tensor<?x3x8xf32>, tensor<8xf32> -> tensor<?x3x8xf32>
  %r = add %x, %p : tensor<?x3x8xf32>, tensor<?x3x8xf32> -> tensor<?x3x8xf32>
  %g2 = param "ln_2.weight" : tensor<8xf32> init ones
  %b2 = param "ln_2.bias" : tensor<8xf32> init normal(0.2)
  %fc_w = param "mlp.fc.weight" : tensor<8x10xf32> init normal(0.4)
  %fc_b = param "mlp.fc.bias" : tensor<10xf32> init normal(0.2)
  %out_w = param "mlp.proj.weight" : tensor<10x8xf32> init normal(0.4)
  %out_b = param "mlp.proj.bias" : tensor<8xf32> init normal(0.2)
  %n2 = layer_norm %r, %g2, %b2 : tensor<?x3x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<?x3x8xf32>
  %f0 = linear %n2, %fc_w : tensor<?x3x8xf32>, tensor<8x10xf32> -> tensor<?x3x10xf32>
  %f1 = add %f0, %fc_b : tensor<?x3x10xf32>, tensor<10xf32> -> tensor<?x3x10xf32>
  %f = gelu %f1 : tensor<?x3x10xf32> -> tensor<?x3x10xf32>
  %o0 = linear %f, %out_w : tensor<?x3x10xf32>, tensor<10x8xf32> -> tensor<?x3x8xf32>
  %o = add %o0, %out_b : tensor<?x3x8xf32>, tensor<8xf32> -> tensor<?x3x8xf32>
  %y = add %r, %o : tensor<?x3x8xf32>, tensor<?x3x8xf32> -> tensor<?x3x8xf32>
  return %y : tensor<?x3x8xf32>
}
nn.model @gpt(%tokens: tensor<?x3xi32>, %next: tensor<?x3xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<13x8xf32> init normal(0.5)
  %wpe = param "wpe" : tensor<3x8xf32> init normal(0.5)
  %pos = positions : tensor<?x3xi32>
  %te = embedding %tokens, %wte : tensor<?x3xi32>, tensor<13x8xf32> -> tensor<?x3x8xf32>
  %pe = embedding %pos, %wpe : tensor<?x3xi32>, tensor<3x8xf32> -> tensor<?x3x8xf32>
  %x = add %te, %pe : tensor<?x3x8xf32>, tensor<?x3x8xf32> -> tensor<?x3x8xf32>
  %y = repeat @layer(%x, %pos) 1 as "h" : tensor<?x3x8xf32>, tensor<?x3xi32> -> tensor<?x3x8xf32>
  %g = param "ln_f.weight" : tensor<8xf32> init ones
  %b = param "ln_f.bias" : tensor<8xf32> init normal(0.2)
  %n = layer_norm %y, %g, %b : tensor<?x3x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<?x3x8xf32>
  %logits = linear transposed %n, %wte : tensor<?x3x8xf32>, tensor<13x8xf32> -> tensor<?x3x13xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x3x13xf32>, tensor<?x3xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  batch 4 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(1.0e-3)
  clip 1.0
  seed 1
}
