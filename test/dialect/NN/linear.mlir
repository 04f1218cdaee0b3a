// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// Kinds of linear: plain, into heads, from heads, transposed.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x4xf32>, %w: tensor<4x8xf32>, %qkv: tensor<4x3x2x5xf32>, %h: tensor<?x3x2x5xf32>, %o: tensor<2x5x4xf32>, %t: tensor<7x4xf32>) {
  // CHECK-NEXT: %linear = linear %x, %w : tensor<?x3x4xf32>, tensor<4x8xf32> -> tensor<?x3x8xf32>{{$}}
  %0 = linear %x, %w : tensor<?x3x4xf32>, tensor<4x8xf32> -> tensor<?x3x8xf32>
  // CHECK-NEXT: %linear_0 = linear %x, %qkv : tensor<?x3x4xf32>, tensor<4x3x2x5xf32> -> tensor<?x3x3x2x5xf32>{{$}}
  %1 = linear %x, %qkv : tensor<?x3x4xf32>, tensor<4x3x2x5xf32> -> tensor<?x3x3x2x5xf32>
  // CHECK-NEXT: %linear_1 = linear %h, %o : tensor<?x3x2x5xf32>, tensor<2x5x4xf32> -> tensor<?x3x4xf32>{{$}}
  %2 = linear %h, %o : tensor<?x3x2x5xf32>, tensor<2x5x4xf32> -> tensor<?x3x4xf32>
  // CHECK-NEXT: %linear_2 = linear transposed %x, %t : tensor<?x3x4xf32>, tensor<7x4xf32> -> tensor<?x3x7xf32>{{$}}
  %3 = linear transposed %x, %t : tensor<?x3x4xf32>, tensor<7x4xf32> -> tensor<?x3x7xf32>
  return
}

// Sums are f32 whatever is multiplied; the result may stay so.
// CHECK-LABEL: nn.block @widened(
nn.block @widened(%x: tensor<2x3xbf16>, %w: tensor<3x4xbf16>) {
  // CHECK-NEXT: linear %x, %w : tensor<2x3xbf16>, tensor<3x4xbf16> -> tensor<2x4xf32>{{$}}
  %0 = linear %x, %w : tensor<2x3xbf16>, tensor<3x4xbf16> -> tensor<2x4xf32>
  return
}
