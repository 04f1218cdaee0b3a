// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b(
nn.block @b(%x: tensor<?x4xf32>, %y: tensor<bf16>) {
  // CHECK-NEXT: %cast = cast %x : tensor<?x4xf32> -> tensor<?x4xbf16>{{$}}
  %0 = cast %x : tensor<?x4xf32> -> tensor<?x4xbf16>
  // CHECK-NEXT: %cast_0 = cast summands %x : tensor<?x4xf32> -> tensor<?x4xf16>{{$}}
  %1 = cast summands %x : tensor<?x4xf32> -> tensor<?x4xf16>
  // CHECK-NEXT: %h1_mlp_cast_grad = cast %y : tensor<bf16> -> tensor<f64> in "h.1.mlp" backward{{$}}
  %2 = cast %y : tensor<bf16> -> tensor<f64> in "h.1.mlp" backward
  return
}
