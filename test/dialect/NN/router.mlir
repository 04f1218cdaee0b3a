// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// softmax, scale 1 and balance 0 unless said; options in any order.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%l: tensor<?x6x4xf32>, %p: tensor<?x6xi32>) {
  // CHECK-NEXT: %router_weights, %router_slots, %router_tokens, %router_load = router %l at %p top 2 : tensor<?x6x4xf32>, tensor<?x6xi32> -> tensor<?x6x2xf32>, tensor<?x6x2xi32>, tensor<?x4x3xi32>, tensor<?xf32>{{$}}
  %w, %s, %t, %b = router %l at %p top 2 softmax : tensor<?x6x4xf32>, tensor<?x6xi32> -> tensor<?x6x2xf32>, tensor<?x6x2xi32>, tensor<?x4x3xi32>, tensor<?xf32>
  // CHECK-NEXT: router %l at %p top 4 sigmoid normalized scale(2.5) balance(0.01) :
  %w1, %s1, %t1, %b1 = router %l at %p top 4 balance(1e-2) scale(2.5) normalized sigmoid : tensor<?x6x4xf32>, tensor<?x6xi32> -> tensor<?x6x4xf32>, tensor<?x6x4xi32>, tensor<?x4x6xi32>, tensor<?xf32>
  return
}
