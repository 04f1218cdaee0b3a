// Groups of ops without parameters: what the neighbours before and behind have in common; positions lead to no neighbour.
// RUN: hocket-opt --nn-inline-blocks %s | FileCheck %s

// CHECK-LABEL: nn.model @llama
// Depends on no parameter: it may run anywhere.
// CHECK: positions : tensor<?x2xi32>{{$}}
// CHECK: embedding {{.*}} in "embed"{{$}}
// CHECK: unstack {{.*}} in "layers.0.attn"
// CHECK: rope {{.*}} in "layers.0.attn"
// CHECK: attention {{.*}} in "layers.0.attn"
// CHECK: add {{.*}} in "layers.0"{{$}}
// CHECK: unstack {{.*}} in "layers.0.mlp"
// CHECK: silu {{.*}} in "layers.0.mlp"
// CHECK: mul {{.*}} in "layers.0.mlp"
// CHECK: add {{.*}} in "layers.0"{{$}}
// CHECK: linear {{.*}} in "head"{{$}}

nn.block @layer(%x: tensor<?x2x8xf32>, %pos: tensor<?x2xi32>) -> tensor<?x2x8xf32> {
  %q_w = param "attn.q.weight" : tensor<8x2x4xf32> init ones
  %kv_w = param "attn.kv.weight" : tensor<8x2x2x4xf32> init ones
  %o_w = param "attn.o.weight" : tensor<2x4x8xf32> init ones
  %up_w = param "mlp.gate_up.weight" : tensor<8x2x6xf32> init ones
  %down_w = param "mlp.down.weight" : tensor<6x8xf32> init ones
  %q0 = linear %x, %q_w : tensor<?x2x8xf32>, tensor<8x2x4xf32> -> tensor<?x2x2x4xf32>
  %kv = linear %x, %kv_w : tensor<?x2x8xf32>, tensor<8x2x2x4xf32> -> tensor<?x2x2x2x4xf32>
  %k, %v = unstack %kv dim 2 : tensor<?x2x2x2x4xf32> -> tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32>
  %q = rope %q0 at %pos : tensor<?x2x2x4xf32>, tensor<?x2xi32> -> tensor<?x2x2x4xf32>
  %a = attention %q, %k, %v at %pos, %pos causal scale(0.5) : tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32>, tensor<?x2xi32>, tensor<?x2xi32> -> tensor<?x2x2x4xf32>
  %p = linear %a, %o_w : tensor<?x2x2x4xf32>, tensor<2x4x8xf32> -> tensor<?x2x8xf32>
  %r = add %x, %p : tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  %gu = linear %r, %up_w : tensor<?x2x8xf32>, tensor<8x2x6xf32> -> tensor<?x2x2x6xf32>
  %g, %u = unstack %gu dim 2 : tensor<?x2x2x6xf32> -> tensor<?x2x6xf32>, tensor<?x2x6xf32>
  %s = silu %g : tensor<?x2x6xf32> -> tensor<?x2x6xf32>
  %h = mul %s, %u : tensor<?x2x6xf32>, tensor<?x2x6xf32> -> tensor<?x2x6xf32>
  %d = linear %h, %down_w : tensor<?x2x6xf32>, tensor<6x8xf32> -> tensor<?x2x8xf32>
  %y = add %r, %d : tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  return %y : tensor<?x2x8xf32>
}
nn.model @llama(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %embed = param "embed" : tensor<5x8xf32> init ones
  %head = param "head.weight" : tensor<8x5xf32> init ones
  %pos = positions : tensor<?x2xi32>
  %x = embedding %tokens, %embed : tensor<?x2xi32>, tensor<5x8xf32> -> tensor<?x2x8xf32>
  %y = repeat @layer(%x, %pos) 1 as "layers" : tensor<?x2x8xf32>, tensor<?x2xi32> -> tensor<?x2x8xf32>
  %logits = linear %y, %head : tensor<?x2x8xf32>, tensor<8x5xf32> -> tensor<?x2x5xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x2x5xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
