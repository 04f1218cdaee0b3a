// One layer of Llama: 2 KV heads with 2 query heads each, hidden 8, feed-forward 12, vocabulary 11, sequence 5.
nn.block @layer(%x: tensor<?x5x8xf32>, %pos: tensor<?x5xi32>) -> tensor<?x5x8xf32> {
  %g1 = param "attn_norm.weight" : tensor<8xf32> init ones
  %q_w = param "attn.q.weight" : tensor<8x2x2x4xf32> init normal(0.4)
  %kv_w = param "attn.kv.weight" : tensor<8x2x2x4xf32> init normal(0.4)
  %o_w = param "attn.o.weight" : tensor<2x2x4x8xf32> init normal(0.4)
  %n1 = rms_norm %x, %g1 : tensor<?x5x8xf32>, tensor<8xf32> -> tensor<?x5x8xf32>
  %q0 = linear %n1, %q_w : tensor<?x5x8xf32>, tensor<8x2x2x4xf32> -> tensor<?x5x2x2x4xf32>
  %kv = linear %n1, %kv_w : tensor<?x5x8xf32>, tensor<8x2x2x4xf32> -> tensor<?x5x2x2x4xf32>
  %k0, %v = unstack %kv dim 2 : tensor<?x5x2x2x4xf32> -> tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>
  %q = rope %q0 at %pos : tensor<?x5x2x2x4xf32>, tensor<?x5xi32> -> tensor<?x5x2x2x4xf32>
  %k = rope %k0 at %pos : tensor<?x5x2x4xf32>, tensor<?x5xi32> -> tensor<?x5x2x4xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.5) : tensor<?x5x2x2x4xf32>, tensor<?x5x2x4xf32>, tensor<?x5x2x4xf32>, tensor<?x5xi32>, tensor<?x5xi32> -> tensor<?x5x2x2x4xf32>
  %p = linear %a, %o_w : tensor<?x5x2x2x4xf32>, tensor<2x2x4x8xf32> -> tensor<?x5x8xf32>
  %r = add %x, %p : tensor<?x5x8xf32>, tensor<?x5x8xf32> -> tensor<?x5x8xf32>
  %g2 = param "mlp_norm.weight" : tensor<8xf32> init ones
  %up_w = param "mlp.gate_up.weight" : tensor<8x2x12xf32> init normal(0.4)
  %down_w = param "mlp.down.weight" : tensor<12x8xf32> init normal(0.4)
  %n2 = rms_norm %r, %g2 : tensor<?x5x8xf32>, tensor<8xf32> -> tensor<?x5x8xf32>
  %gu = linear %n2, %up_w : tensor<?x5x8xf32>, tensor<8x2x12xf32> -> tensor<?x5x2x12xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x5x2x12xf32> -> tensor<?x5x12xf32>, tensor<?x5x12xf32>
  %s = silu %g : tensor<?x5x12xf32> -> tensor<?x5x12xf32>
  %h = mul %s, %u : tensor<?x5x12xf32>, tensor<?x5x12xf32> -> tensor<?x5x12xf32>
  %d = linear %h, %down_w : tensor<?x5x12xf32>, tensor<12x8xf32> -> tensor<?x5x8xf32>
  %y = add %r, %d : tensor<?x5x8xf32>, tensor<?x5x8xf32> -> tensor<?x5x8xf32>
  return %y : tensor<?x5x8xf32>
}
nn.model @gpt(%tokens: tensor<?x5xi32>, %next: tensor<?x5xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<11x8xf32> init normal(0.5)
  %pos = positions : tensor<?x5xi32>
  %x = embedding %tokens, %embed : tensor<?x5xi32>, tensor<11x8xf32> -> tensor<?x5x8xf32>
  %y = repeat @layer(%x, %pos) 1 as "layers" : tensor<?x5x8xf32>, tensor<?x5xi32> -> tensor<?x5x8xf32>
  %g = param "norm.weight" : tensor<8xf32> init ones
  %n = rms_norm %y, %g : tensor<?x5x8xf32>, tensor<8xf32> -> tensor<?x5x8xf32>
  %head = param "head.weight" : tensor<8x11xf32> init normal(0.5)
  %logits = linear %n, %head : tensor<?x5x8xf32>, tensor<8x11xf32> -> tensor<?x5x11xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x5x11xf32>, tensor<?x5xi32> -> tensor<f32>, tensor<i64>
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
