// A small transformer that drops elements everywhere: of the embedding, of the attention's result by head (split over tp), of the feed-forward's inner
// size (split over tp, 150 columns: uneven over 4), and before each residual. 4 heads of 8, hidden 36, 24 positions, 97 tokens, 2 layers.
nn.block @layer(%x: tensor<?x24x36xf32>, %pos: tensor<?x24xi32>) -> tensor<?x24x36xf32> {
  %n1_g = param "attn_norm.weight" : tensor<36xf32> init ones
  %qkv_w = param "attn.qkv.weight" : tensor<36x3x4x8xf32> init normal(0.1)
  %o_w = param "attn.o.weight" : tensor<4x8x36xf32> init normal(0.1)
  %n1 = rms_norm %x, %n1_g : tensor<?x24x36xf32>
  %qkv = linear %n1, %qkv_w : tensor<?x24x36xf32>, tensor<36x3x4x8xf32> -> tensor<?x24x3x4x8xf32>
  %q, %k, %v = unstack %qkv dim 2 : tensor<?x24x3x4x8xf32> -> tensor<?x24x4x8xf32>, tensor<?x24x4x8xf32>, tensor<?x24x4x8xf32>
  %a0 = attention %q, %k, %v at %pos, %pos causal scale(0.35355339) : tensor<?x24x4x8xf32>, tensor<?x24x4x8xf32>, tensor<?x24x4x8xf32>, tensor<?x24xi32>, tensor<?x24xi32> -> tensor<?x24x4x8xf32>
  %a = dropout %a0 at %pos rate(0.2) : tensor<?x24x4x8xf32>, tensor<?x24xi32> -> tensor<?x24x4x8xf32>
  %p0 = linear %a, %o_w : tensor<?x24x4x8xf32>, tensor<4x8x36xf32> -> tensor<?x24x36xf32>
  %p = dropout %p0 at %pos rate(0.1) : tensor<?x24x36xf32>, tensor<?x24xi32> -> tensor<?x24x36xf32>
  %r = add %x, %p : tensor<?x24x36xf32>
  %n2_g = param "mlp_norm.weight" : tensor<36xf32> init ones
  %fc_w = param "mlp.fc.weight" : tensor<36x150xf32> init normal(0.1)
  %out_w = param "mlp.out.weight" : tensor<150x36xf32> init normal(0.1)
  %n2 = rms_norm %r, %n2_g : tensor<?x24x36xf32>
  %f0 = linear %n2, %fc_w : tensor<?x24x36xf32>, tensor<36x150xf32> -> tensor<?x24x150xf32>
  %f1 = gelu %f0 : tensor<?x24x150xf32>
  %f = dropout %f1 at %pos rate(0.25) : tensor<?x24x150xf32>, tensor<?x24xi32> -> tensor<?x24x150xf32>
  %d0 = linear %f, %out_w : tensor<?x24x150xf32>, tensor<150x36xf32> -> tensor<?x24x36xf32>
  %d = dropout %d0 at %pos rate(0.1) : tensor<?x24x36xf32>, tensor<?x24xi32> -> tensor<?x24x36xf32>
  %y = add %r, %d : tensor<?x24x36xf32>
  return %y : tensor<?x24x36xf32>
}

nn.model @drop(%tokens: tensor<?x24xi32>, %next: tensor<?x24xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<97x36xf32> init normal(0.1)
  %pos = positions : tensor<?x24xi32>
  %x0 = embedding %tokens, %embed : tensor<?x24xi32>, tensor<97x36xf32> -> tensor<?x24x36xf32>
  %x = dropout %x0 at %pos rate(0.1) : tensor<?x24x36xf32>, tensor<?x24xi32> -> tensor<?x24x36xf32>
  %y = repeat @layer(%x, %pos) 2 as "layers" : tensor<?x24x36xf32>, tensor<?x24xi32> -> tensor<?x24x36xf32>
  %g = param "norm.weight" : tensor<36xf32> init ones
  %n = rms_norm %y, %g : tensor<?x24x36xf32>
  %head = param "head.weight" : tensor<36x97xf32> init normal(0.1)
  %logits = linear %n, %head : tensor<?x24x36xf32>, tensor<36x97xf32> -> tensor<?x24x97xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x24x97xf32>, tensor<?x24xi32>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// The large eps keeps Adam from turning rounding noise into steps (see small-gpt.mlir).
nn.recipe @pretrain for @drop {
  batch 8 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 2, decay = 100, floor = 1.0e-4)
  clip 1.0
  seed 77
}

dist.mesh @one<"dp"=1>
dist.plan @single for @drop on @one {
  batch over "dp" microbatch 1 sequences
}
