// A byte-level mixture of experts: 4 layers, each with 8 experts of which a token uses two, and a shared one that all use.
nn.block @experts(%x: tensor<?x128x256xf32>, %pos: tensor<?x128xi32>) -> tensor<?x128x256xf32> {
  %gate_w = param "gate.weight" : tensor<256x8xf32> init normal(0.02)
  %up_w = param "experts.gate_up.weight" : tensor<8x256x2x256xf32> init normal(0.02)
  %down_w = param "experts.down.weight" : tensor<8x256x256xf32> init normal(0.007071)
  %logits = router_logits %x, %gate_w : tensor<?x128x256xf32>, tensor<256x8xf32> -> tensor<?x128x8xf32>
  // 40 tokens of a sequence for each expert: the recipe's capacity, 1.25 times an even share
  %weights, %slots, %tokens, %load = router %logits at %pos top 2 normalized : tensor<?x128x8xf32>, tensor<?x128xi32> -> tensor<?x128x2xf32>, tensor<?x128x2xi32>, tensor<?x8x40xi32>, tensor<?xf32>
  %t = dispatch %x by %slots, %tokens : tensor<?x128x256xf32>, tensor<?x128x2xi32>, tensor<?x8x40xi32> -> tensor<8x?x40x256xf32>
  %gu = matmul %t, %up_w "e b c h, e h u f -> e b c u f" : tensor<8x?x40x256xf32>, tensor<8x256x2x256xf32> -> tensor<8x?x40x2x256xf32>
  %g, %u = unstack %gu dim 3 : tensor<8x?x40x2x256xf32> -> tensor<8x?x40x256xf32>, tensor<8x?x40x256xf32>
  %s = silu %g : tensor<8x?x40x256xf32> -> tensor<8x?x40x256xf32>
  %h = mul %s, %u : tensor<8x?x40x256xf32>, tensor<8x?x40x256xf32> -> tensor<8x?x40x256xf32>
  %d = matmul %h, %down_w "e b c f, e f h -> e b c h" : tensor<8x?x40x256xf32>, tensor<8x256x256xf32> -> tensor<8x?x40x256xf32>
  %routed = combine %d by %slots, %tokens weighted %weights : tensor<8x?x40x256xf32>, tensor<?x128x2xi32>, tensor<?x8x40xi32>, tensor<?x128x2xf32> -> tensor<?x128x256xf32>
  // the shared expert: a dense block beside them
  %shared_up_w = param "shared.gate_up.weight" : tensor<256x2x256xf32> init normal(0.02)
  %shared_down_w = param "shared.down.weight" : tensor<256x256xf32> init normal(0.007071)
  %sgu = linear %x, %shared_up_w : tensor<?x128x256xf32>, tensor<256x2x256xf32> -> tensor<?x128x2x256xf32>
  %sg, %su = unstack %sgu dim 2 : tensor<?x128x2x256xf32> -> tensor<?x128x256xf32>, tensor<?x128x256xf32>
  %ss = silu %sg : tensor<?x128x256xf32> -> tensor<?x128x256xf32>
  %sh = mul %ss, %su : tensor<?x128x256xf32>, tensor<?x128x256xf32> -> tensor<?x128x256xf32>
  %shared = linear %sh, %shared_down_w : tensor<?x128x256xf32>, tensor<256x256xf32> -> tensor<?x128x256xf32>
  %y = add %routed, %shared : tensor<?x128x256xf32>, tensor<?x128x256xf32> -> tensor<?x128x256xf32>
  return %y : tensor<?x128x256xf32>
}

nn.block @layer(%x: tensor<?x128x256xf32>, %pos: tensor<?x128xi32>) -> tensor<?x128x256xf32> {
  %n1_g = param "attn_norm.weight" : tensor<256xf32> init ones
  %qkv_w = param "attn.qkv.weight" : tensor<256x3x8x32xf32> init normal(0.02)
  %o_w = param "attn.o.weight" : tensor<8x32x256xf32> init normal(0.007071)
  %n1 = rms_norm %x, %n1_g : tensor<?x128x256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %qkv = linear %n1, %qkv_w : tensor<?x128x256xf32>, tensor<256x3x8x32xf32> -> tensor<?x128x3x8x32xf32>
  %q0, %k0, %v = unstack %qkv dim 2 : tensor<?x128x3x8x32xf32> -> tensor<?x128x8x32xf32>, tensor<?x128x8x32xf32>, tensor<?x128x8x32xf32>
  %q = rope %q0 at %pos : tensor<?x128x8x32xf32>, tensor<?x128xi32> -> tensor<?x128x8x32xf32>
  %k = rope %k0 at %pos : tensor<?x128x8x32xf32>, tensor<?x128xi32> -> tensor<?x128x8x32xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.17677669529663687) : tensor<?x128x8x32xf32>, tensor<?x128x8x32xf32>, tensor<?x128x8x32xf32>, tensor<?x128xi32>, tensor<?x128xi32> -> tensor<?x128x8x32xf32>
  %p = linear %a, %o_w : tensor<?x128x8x32xf32>, tensor<8x32x256xf32> -> tensor<?x128x256xf32>
  %r = add %x, %p : tensor<?x128x256xf32>, tensor<?x128x256xf32> -> tensor<?x128x256xf32>
  %n2_g = param "moe_norm.weight" : tensor<256xf32> init ones
  %n2 = rms_norm %r, %n2_g : tensor<?x128x256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %m = call @experts(%n2, %pos) as "moe" : tensor<?x128x256xf32>, tensor<?x128xi32> -> tensor<?x128x256xf32>
  %y = add %r, %m : tensor<?x128x256xf32>, tensor<?x128x256xf32> -> tensor<?x128x256xf32>
  return %y : tensor<?x128x256xf32>
}

nn.model @moe(%tokens: tensor<?x128xi32>, %next: tensor<?x128xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<256x256xf32> init normal(0.02)
  %pos = positions : tensor<?x128xi32>
  %x = embedding %tokens, %embed : tensor<?x128xi32>, tensor<256x256xf32> -> tensor<?x128x256xf32>
  %y = repeat @layer(%x, %pos) 4 as "layers" : tensor<?x128x256xf32>, tensor<?x128xi32> -> tensor<?x128x256xf32>
  %g = param "norm.weight" : tensor<256xf32> init ones
  %n = rms_norm %y, %g : tensor<?x128x256xf32>, tensor<256xf32> -> tensor<?x128x256xf32>
  %head = param "head.weight" : tensor<256x256xf32> init normal(0.02)
  %logits = linear %n, %head : tensor<?x128x256xf32>, tensor<256x256xf32> -> tensor<?x128x256xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x128x256xf32>, tensor<?x128xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

nn.recipe @pretrain for @moe {
  batch 16 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], eps = 1.0e-5, weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  clip 1.0
  capacity 1.25
  auxiliary_loss 0.01
  seed 1234
}

dist.mesh @one<"dp"=1>
dist.plan @single for @moe on @one {
  batch over "dp" microbatch 2 sequences
}

// Two experts on each of four ranks.
dist.mesh @four<"dp"=4>
dist.plan @ep for @moe on @four {
  batch over "dp" microbatch 2 sequences
  experts over "dp"
}

// Eight ranks: two stages; experts over the two data-parallel ranks, and each expert over two tensor-parallel ones.
dist.mesh @eight<"pp"=2, "dp"=2, "tp"=2>
dist.plan @ep_tp_pp for @moe on @eight {
  batch over "dp" microbatch 2 sequences
  experts over "dp"
  split megatron over "tp"
  stages over "pp" schedule "1f1b"
  zero 1 over "dp"
}
