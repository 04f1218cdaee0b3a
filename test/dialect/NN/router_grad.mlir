// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%d: tensor<2x6x2xf32>, %l: tensor<2x6x4xf32>, %g: tensor<2xf32>) {
  // CHECK-NEXT: %router_grad = router_grad %d, %l top 2 : tensor<2x6x2xf32>, tensor<2x6x4xf32> -> tensor<2x6x4xf32>{{$}}
  %0 = router_grad %d, %l top 2 : tensor<2x6x2xf32>, tensor<2x6x4xf32> -> tensor<2x6x4xf32>
  // CHECK-NEXT: router_grad %d, %l load %g top 2 normalized balance(0.5) : tensor<2x6x2xf32>, tensor<2x6x4xf32>, tensor<2xf32> -> tensor<2x6x4xf32>{{$}}
  %1 = router_grad %d, %l load %g top 2 normalized balance(0.5) : tensor<2x6x2xf32>, tensor<2x6x4xf32>, tensor<2xf32> -> tensor<2x6x4xf32>
  return
}
