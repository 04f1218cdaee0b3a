// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// Shardings are dist's attributes; nn knows only that they are shardings. They print as aliases.

// CHECK: #dp_r = #dist.sharding<@one, [{"dp"}, {}]>
dist.mesh @one<"dp"=2>
// CHECK-LABEL: nn.block @b
nn.block @b(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %h0_gelu_grad = gelu %x : {{.*}} in "h.0" backward on [#dp_r]
  %0 = gelu %x : tensor<4x4xf32> in "h.0" backward on [#dist.sharding<@one, [{"dp"}, {}]>]
  // CHECK-NEXT: unstack %h0_gelu_grad dim 0 : {{.*}} on [none, none, none, #r]
  %1:4 = unstack %0 dim 0 : tensor<4x4xf32> -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> on [none, none, none, #dist.sharding<@one, [{}]>]
  return %0 : tensor<4x4xf32>
}
