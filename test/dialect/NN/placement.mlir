// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// Path, phase and shardings may each be missing; with a path a value is named by it.

// CHECK-LABEL: nn.block @b
nn.block @b(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK-NEXT: %gelu = gelu %x : tensor<4x4xf32> -> tensor<4x4xf32>{{$}}
  %0 = gelu %x : tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK-NEXT: %h3_mlp_gelu = gelu %gelu : tensor<4x4xf32> -> tensor<4x4xf32> in "h.3.mlp"{{$}}
  %1 = gelu %0 : tensor<4x4xf32> -> tensor<4x4xf32> in "h.3.mlp"
  // CHECK-NEXT: %gelu_grad = gelu %h3_mlp_gelu : tensor<4x4xf32> -> tensor<4x4xf32> weight_grad{{$}}
  %2 = gelu %1 : tensor<4x4xf32> -> tensor<4x4xf32> weight_grad
  // CHECK-NEXT: %wte_use1_gelu_grad = gelu %gelu_grad : tensor<4x4xf32> -> tensor<4x4xf32> in "wte#1" backward on [none]{{$}}
  %3 = gelu %2 : tensor<4x4xf32> -> tensor<4x4xf32> in "wte#1" backward on [none]
  return %3 : tensor<4x4xf32>
}
