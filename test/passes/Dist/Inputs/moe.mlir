nn.block @layer(%x: tensor<?x4x8xf32>, %pos: tensor<?x4xi32>) -> tensor<?x4x8xf32> {
  %gate_w = param "gate.weight" : tensor<8x4xf32> init normal(0.4)
  %up_w = param "experts.up.weight" : tensor<4x8x6xf32> init normal(0.4)
  %down_w = param "experts.down.weight" : tensor<4x6x8xf32> init normal(0.4)
  %l = router_logits %x, %gate_w : tensor<?x4x8xf32>, tensor<8x4xf32> -> tensor<?x4x4xf32>
  %w, %s, %t, %load = router %l at %pos top 2 : tensor<?x4x4xf32>, tensor<?x4xi32> -> tensor<?x4x2xf32>, tensor<?x4x2xi32>, tensor<?x4x2xi32>, tensor<?xf32>
  %d = dispatch %x by %s, %t : tensor<?x4x8xf32>, tensor<?x4x2xi32>, tensor<?x4x2xi32> -> tensor<4x?x2x8xf32>
  %u = matmul %d, %up_w "e b c h, e h f -> e b c f" : tensor<4x?x2x8xf32>, tensor<4x8x6xf32> -> tensor<4x?x2x6xf32>
  %h = gelu %u : tensor<4x?x2x6xf32>
  %o = matmul %h, %down_w "e b c f, e f h -> e b c h" : tensor<4x?x2x6xf32>, tensor<4x6x8xf32> -> tensor<4x?x2x8xf32>
  %y = combine %o by %s, %t weighted %w : tensor<4x?x2x8xf32>, tensor<?x4x2xi32>, tensor<?x4x2xi32>, tensor<?x4x2xf32> -> tensor<?x4x8xf32>
  %r = add %x, %y : tensor<?x4x8xf32>
  return %r : tensor<?x4x8xf32>
}
nn.model @moe(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<13x8xf32> init normal(0.5)
  %pos = positions : tensor<?x4xi32>
  %x = embedding %tokens, %wte : tensor<?x4xi32>, tensor<13x8xf32> -> tensor<?x4x8xf32>
  %y = repeat @layer(%x, %pos) 1 as "h" : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<?x4x8xf32>
  %logits = linear transposed %y, %wte : tensor<?x4x8xf32>, tensor<13x8xf32> -> tensor<?x4x13xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x4x13xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @pretrain for @moe {
  batch 8 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(1e-2)
  clip 1.0
  capacity 1.0
  auxiliary_loss 0.01
}
