// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x4xf32>, %w: tensor<4x8xf32>, %n: tensor<?x3x4xbf16>, %v: tensor<4x8xbf16>) {
  // CHECK-NEXT: %router_logits = router_logits %x, %w : tensor<?x3x4xf32>, tensor<4x8xf32> -> tensor<?x3x8xf32>{{$}}
  %0 = router_logits %x, %w : tensor<?x3x4xf32>, tensor<4x8xf32> -> tensor<?x3x8xf32>
  // CHECK-NEXT: %router_logits_0 = router_logits %n, %v : tensor<?x3x4xbf16>, tensor<4x8xbf16> -> tensor<?x3x8xf32>{{$}}
  %1 = router_logits %n, %v : tensor<?x3x4xbf16>, tensor<4x8xbf16> -> tensor<?x3x8xf32>
  return
}
