// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x4xf32>) {
  // CHECK-NEXT: %silu = silu %x : tensor<?x3x4xf32> -> tensor<?x3x4xf32>{{$}}
  %0 = silu %x : tensor<?x3x4xf32> -> tensor<?x3x4xf32>
  return
}

// CHECK-LABEL: nn.block @b1(
nn.block @b1(%x: tensor<bf16>) {
  // CHECK-NEXT: %silu = silu %x : tensor<bf16> -> tensor<bf16>{{$}}
  %0 = silu %x : tensor<bf16> -> tensor<bf16>
  return
}
