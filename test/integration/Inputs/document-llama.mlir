// A small Llama that sees no further than the document of each token: 2 layers, hidden 32, 4 query heads on 2 KV heads of 6,
// sequence 24, 97 tokens. Rotary positions are relative, so a document means the same wherever in a sequence it stands.
nn.block @layer(%x: tensor<?x24x32xf32>, %pos: tensor<?x24xi32>, %doc: tensor<?x24xi32>) -> tensor<?x24x32xf32> {
  %g1 = param "attn_norm.weight" : tensor<32xf32> init ones
  %qw = param "attn.q.weight" : tensor<32x2x2x6xf32> init normal(0.3)
  %kvw = param "attn.kv.weight" : tensor<32x2x2x6xf32> init normal(0.3)
  %ow = param "attn.o.weight" : tensor<2x2x6x32xf32> init normal(0.3)
  %n1 = rms_norm %x, %g1 : tensor<?x24x32xf32>, tensor<32xf32> -> tensor<?x24x32xf32>
  %q0 = linear %n1, %qw : tensor<?x24x32xf32>, tensor<32x2x2x6xf32> -> tensor<?x24x2x2x6xf32>
  %kv = linear %n1, %kvw : tensor<?x24x32xf32>, tensor<32x2x2x6xf32> -> tensor<?x24x2x2x6xf32>
  %k0, %v = unstack %kv dim 2 : tensor<?x24x2x2x6xf32> -> tensor<?x24x2x6xf32>, tensor<?x24x2x6xf32>
  %q = rope %q0 at %pos : tensor<?x24x2x2x6xf32>, tensor<?x24xi32> -> tensor<?x24x2x2x6xf32>
  %k = rope %k0 at %pos : tensor<?x24x2x6xf32>, tensor<?x24xi32> -> tensor<?x24x2x6xf32>
  %a = attention %q, %k, %v at %pos, %pos documents %doc, %doc causal scale(0.408248290463863) : tensor<?x24x2x2x6xf32>, tensor<?x24x2x6xf32>, tensor<?x24x2x6xf32>, tensor<?x24xi32>, tensor<?x24xi32>, tensor<?x24xi32>, tensor<?x24xi32> -> tensor<?x24x2x2x6xf32>
  %p = linear %a, %ow : tensor<?x24x2x2x6xf32>, tensor<2x2x6x32xf32> -> tensor<?x24x32xf32>
  %r = add %x, %p : tensor<?x24x32xf32>, tensor<?x24x32xf32> -> tensor<?x24x32xf32>
  %g2 = param "mlp_norm.weight" : tensor<32xf32> init ones
  %uw = param "mlp.gate_up.weight" : tensor<32x2x64xf32> init normal(0.3)
  %dw = param "mlp.down.weight" : tensor<64x32xf32> init normal(0.3)
  %n2 = rms_norm %r, %g2 : tensor<?x24x32xf32>, tensor<32xf32> -> tensor<?x24x32xf32>
  %gu = linear %n2, %uw : tensor<?x24x32xf32>, tensor<32x2x64xf32> -> tensor<?x24x2x64xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x24x2x64xf32> -> tensor<?x24x64xf32>, tensor<?x24x64xf32>
  %s = silu %g : tensor<?x24x64xf32> -> tensor<?x24x64xf32>
  %h = mul %s, %u : tensor<?x24x64xf32>, tensor<?x24x64xf32> -> tensor<?x24x64xf32>
  %d = linear %h, %dw : tensor<?x24x64xf32>, tensor<64x32xf32> -> tensor<?x24x32xf32>
  %y = add %r, %d : tensor<?x24x32xf32>, tensor<?x24x32xf32> -> tensor<?x24x32xf32>
  return %y : tensor<?x24x32xf32>
}

nn.model @llama(%tokens: tensor<?x24xi32>, %next: tensor<?x24xi32>, %documents: tensor<?x24xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<97x32xf32> init normal(0.3)
  %pos = positions : tensor<?x24xi32>
  %x = embedding %tokens, %embed : tensor<?x24xi32>, tensor<97x32xf32> -> tensor<?x24x32xf32>
  %y = repeat @layer(%x, %pos, %documents) 2 as "layers" : tensor<?x24x32xf32>, tensor<?x24xi32>, tensor<?x24xi32> -> tensor<?x24x32xf32>
  %g = param "norm.weight" : tensor<32xf32> init ones
  %n = rms_norm %y, %g : tensor<?x24x32xf32>, tensor<32xf32> -> tensor<?x24x32xf32>
  %head = param "head.weight" : tensor<32x97xf32> init normal(0.3)
  %logits = linear %n, %head : tensor<?x24x32xf32>, tensor<32x97xf32> -> tensor<?x24x97xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x24x97xf32>, tensor<?x24xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// The large eps keeps Adam from turning rounding noise into steps (see small-gpt.mlir).
nn.recipe @pretrain for @llama {
  batch 8 sequences
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 2, decay = 100, floor = 1.0e-4)
  clip 1.0
  seed 77
}

dist.mesh @one<"dp"=1>
dist.plan @single for @llama on @one {
  batch over "dp" microbatch 4 sequences
}
