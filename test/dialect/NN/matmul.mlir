// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>, %x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>) {
  // CHECK-NEXT: %matmul = matmul %a, %b "b s n d, h n d -> b s h" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>{{$}}
  %0 = matmul %a, %b "b s n d, h n d -> b s h" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  // CHECK-NEXT: %matmul_0 = matmul %x, %y "e t h, e t h -> _" : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<f32>{{$}}
  %1 = matmul %x, %y "e t h, e t h -> _" : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<f32>
  // CHECK-NEXT: %matmul_1 = matmul %x, %y "e t h, e f h -> e f t" : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<2x3x3xf32>{{$}}
  %2 = matmul %x, %y "e t h, e f h -> e f t" : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<2x3x3xf32>
  return
}

// CHECK-LABEL: nn.block @widened(
nn.block @widened(%x: tensor<2x3xf16>, %w: tensor<3x4xf16>) {
  // CHECK-NEXT: matmul %x, %w "a b, b c -> a c" : tensor<2x3xf16>, tensor<3x4xf16> -> tensor<2x4xf32>{{$}}
  %0 = matmul %x, %w "a b, b c -> a c" : tensor<2x3xf16>, tensor<3x4xf16> -> tensor<2x4xf32>
  return
}
