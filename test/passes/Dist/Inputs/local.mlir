// A feed-forward block as a manual region: columns of one weight, rows of the other, one all_reduce by hand.
nn.block @layer(%x: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  %g = param "ln.weight" : tensor<8xf32> init ones
  %w1 = param "fc.weight" : tensor<8x12xf32> init normal(0.02)
  %w2 = param "proj.weight" : tensor<12x8xf32> init normal(0.02)
  %n = rms_norm %x, %g : tensor<?x4x8xf32>, tensor<8xf32> -> tensor<?x4x8xf32>
  %m = dist.local over <"tp"=2> (%a = %n : tensor<?x4x8xf32> as invariant, %u1 = %w1 : tensor<8x12xf32> as varying(1), %u2 = %w2 : tensor<12x8xf32> as varying(0)) -> (tensor<?x4x8xf32> as invariant) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    %h = linear %r, %u1 : tensor<?x4x8xf32>, tensor<8x6xf32> -> tensor<?x4x6xf32>
    %f = gelu %h : tensor<?x4x6xf32> -> tensor<?x4x6xf32>
    %o = linear %f, %u2 : tensor<?x4x6xf32>, tensor<6x8xf32> -> tensor<?x4x8xf32>
    %y = dist.convert %o over "tp" partial to invariant by all_reduce : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    return %y : tensor<?x4x8xf32>
  }
  %y = add %x, %m : tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}
nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<16x8xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<?x4xi32>, tensor<16x8xf32> -> tensor<?x4x8xf32>
  %y = repeat @layer(%x) 1 as "h" : tensor<?x4x8xf32>
  %logits = linear transposed %y, %wte : tensor<?x4x8xf32>, tensor<16x8xf32> -> tensor<?x4x16xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x4x16xf32>, tensor<?x4xi32>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  batch 8 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
