// A mixture of 8 experts, two for each token, with a shared one: hidden 48, 4 heads of 12, 24 positions, 97 tokens, 2 layers. An
// expert takes 6 tokens of a sequence, an even share: some tokens find no place. Weights of experts are over 64 KiB, so
// ZeRO splits them. The gate starts wide, so that plans' rounding does not decide between experts.
nn.block @layer(%x: tensor<?x24x48xf32>, %pos: tensor<?x24xi32>) -> tensor<?x24x48xf32> {
  %n1_g = param "attn_norm.weight" : tensor<48xf32> init ones
  %qkv_w = param "attn.qkv.weight" : tensor<48x3x4x12xf32> init normal(0.06)
  %o_w = param "attn.o.weight" : tensor<4x12x48xf32> init normal(0.06)
  %n1 = rms_norm %x, %n1_g : tensor<?x24x48xf32>, tensor<48xf32> -> tensor<?x24x48xf32>
  %qkv = linear %n1, %qkv_w : tensor<?x24x48xf32>, tensor<48x3x4x12xf32> -> tensor<?x24x3x4x12xf32>
  %q0, %k0, %v = unstack %qkv dim 2 : tensor<?x24x3x4x12xf32> -> tensor<?x24x4x12xf32>, tensor<?x24x4x12xf32>, tensor<?x24x4x12xf32>
  %q = rope %q0 at %pos : tensor<?x24x4x12xf32>, tensor<?x24xi32> -> tensor<?x24x4x12xf32>
  %k = rope %k0 at %pos : tensor<?x24x4x12xf32>, tensor<?x24xi32> -> tensor<?x24x4x12xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.28867513459481287) : tensor<?x24x4x12xf32>, tensor<?x24x4x12xf32>, tensor<?x24x4x12xf32>, tensor<?x24xi32>, tensor<?x24xi32> -> tensor<?x24x4x12xf32>
  %p = linear %a, %o_w : tensor<?x24x4x12xf32>, tensor<4x12x48xf32> -> tensor<?x24x48xf32>
  %r = add %x, %p : tensor<?x24x48xf32>, tensor<?x24x48xf32> -> tensor<?x24x48xf32>
  %n2_g = param "moe_norm.weight" : tensor<48xf32> init ones
  %n = rms_norm %r, %n2_g : tensor<?x24x48xf32>, tensor<48xf32> -> tensor<?x24x48xf32>
  // experts
  %gate_w = param "moe.gate.weight" : tensor<48x8xf32> init normal(0.4)
  %up_w = param "moe.experts.gate_up.weight" : tensor<8x48x2x60xf32> init normal(0.06)
  %down_w = param "moe.experts.down.weight" : tensor<8x60x48xf32> init normal(0.06)
  %logits = router_logits %n, %gate_w : tensor<?x24x48xf32>, tensor<48x8xf32> -> tensor<?x24x8xf32>
  %w, %s, %t, %load = router %logits at %pos top 2 normalized : tensor<?x24x8xf32>, tensor<?x24xi32> -> tensor<?x24x2xf32>, tensor<?x24x2xi32>, tensor<?x8x6xi32>, tensor<?xf32>
  %e = dispatch %n by %s, %t : tensor<?x24x48xf32>, tensor<?x24x2xi32>, tensor<?x8x6xi32> -> tensor<8x?x6x48xf32>
  %gu = matmul %e, %up_w "e b c h, e h u f -> e b c u f" : tensor<8x?x6x48xf32>, tensor<8x48x2x60xf32> -> tensor<8x?x6x2x60xf32>
  %g, %u = unstack %gu dim 3 : tensor<8x?x6x2x60xf32> -> tensor<8x?x6x60xf32>, tensor<8x?x6x60xf32>
  %sg = silu %g : tensor<8x?x6x60xf32> -> tensor<8x?x6x60xf32>
  %h = mul %sg, %u : tensor<8x?x6x60xf32>, tensor<8x?x6x60xf32> -> tensor<8x?x6x60xf32>
  %d = matmul %h, %down_w "e b c f, e f h -> e b c h" : tensor<8x?x6x60xf32>, tensor<8x60x48xf32> -> tensor<8x?x6x48xf32>
  %routed = combine %d by %s, %t weighted %w : tensor<8x?x6x48xf32>, tensor<?x24x2xi32>, tensor<?x8x6xi32>, tensor<?x24x2xf32> -> tensor<?x24x48xf32>
  // the shared expert
  %su_w = param "moe.shared.up.weight" : tensor<48x52xf32> init normal(0.06)
  %sd_w = param "moe.shared.down.weight" : tensor<52x48xf32> init normal(0.06)
  %s0 = linear %n, %su_w : tensor<?x24x48xf32>, tensor<48x52xf32> -> tensor<?x24x52xf32>
  %s1 = silu %s0 : tensor<?x24x52xf32> -> tensor<?x24x52xf32>
  %shared = linear %s1, %sd_w : tensor<?x24x52xf32>, tensor<52x48xf32> -> tensor<?x24x48xf32>
  %m = add %routed, %shared : tensor<?x24x48xf32>, tensor<?x24x48xf32> -> tensor<?x24x48xf32>
  %y = add %r, %m : tensor<?x24x48xf32>, tensor<?x24x48xf32> -> tensor<?x24x48xf32>
  return %y : tensor<?x24x48xf32>
}

nn.model @moe(%tokens: tensor<?x24xi32>, %next: tensor<?x24xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<97x48xf32> init normal(0.06)
  %pos = positions : tensor<?x24xi32>
  %x = embedding %tokens, %embed : tensor<?x24xi32>, tensor<97x48xf32> -> tensor<?x24x48xf32>
  %y = repeat @layer(%x, %pos) 2 as "layers" : tensor<?x24x48xf32>, tensor<?x24xi32> -> tensor<?x24x48xf32>
  %g = param "norm.weight" : tensor<48xf32> init ones
  %n = rms_norm %y, %g : tensor<?x24x48xf32>, tensor<48xf32> -> tensor<?x24x48xf32>
  %head = param "head.weight" : tensor<48x97xf32> init normal(0.06)
  %logits = linear %n, %head : tensor<?x24x48xf32>, tensor<48x97xf32> -> tensor<?x24x97xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x24x97xf32>, tensor<?x24xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// The large eps keeps Adam from turning rounding noise into steps (see small-gpt.mlir).
nn.recipe @pretrain for @moe {
  batch 8 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 2, decay = 100, floor = 1.0e-4)
  clip 1.0
  capacity 1.0
  auxiliary_loss 0.02
  seed 77
}

dist.mesh @one<"dp"=1>
dist.plan @single for @moe on @one {
  batch over "dp" microbatch 1 sequences
}
