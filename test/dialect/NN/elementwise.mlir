// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// The body prints without prefix; scalars and vectors are repeated.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x0: tensor<?x3x4xf32>, %x1: tensor<4xf32>, %x2: tensor<f32>) {
  // CHECK-NEXT: %f_0, %f_1 = elementwise "f" %x0, %x1, %x2 : tensor<?x3x4xf32>, tensor<4xf32>, tensor<f32> -> tensor<?x3x4xf32>, tensor<?x3x4xf32> {{[{]$}}
  // CHECK-NEXT: ^bb0(%arg0: f32, %arg1: f32, %arg2: f32):{{$}}
  // CHECK-NEXT: %0 = arith.mulf %arg0, %arg1 : f32{{$}}
  // CHECK-NEXT: %1 = math.tanh %0 : f32{{$}}
  // CHECK-NEXT: return %1, %arg2 : f32, f32{{$}}
  // CHECK-NEXT: }{{$}}
  %0, %1 = elementwise "f" %x0, %x1, %x2 : tensor<?x3x4xf32>, tensor<4xf32>, tensor<f32> -> tensor<?x3x4xf32>, tensor<?x3x4xf32> {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = math.tanh %0 : f32
    return %1, %c : f32, f32
  }
  return
}

// CHECK-LABEL: nn.block @b1(
nn.block @b1(%x0: tensor<3xi32>) {
  // CHECK-NEXT: %elementwise = elementwise %x0 : tensor<3xi32> -> tensor<3xf32> {{[{]$}}
  // CHECK-NEXT: ^bb0(%arg0: i32):{{$}}
  // CHECK-NEXT: %0 = arith.sitofp %arg0 : i32 to f32{{$}}
  // CHECK-NEXT: return %0 : f32{{$}}
  // CHECK-NEXT: }{{$}}
  %0 = elementwise %x0 : tensor<3xi32> -> tensor<3xf32> {
  ^bb0(%a: i32):
    %0 = arith.sitofp %a : i32 to f32
    return %0 : f32
  }
  return
}

// A body computes in f32 where tensors are narrower.
// CHECK-LABEL: nn.block @narrow(
nn.block @narrow(%x: tensor<3xbf16>, %w: tensor<f32>) {
  // CHECK-NEXT: elementwise %x, %w : tensor<3xbf16>, tensor<f32> -> tensor<3xf16> {
  %0 = elementwise %x, %w : tensor<3xbf16>, tensor<f32> -> tensor<3xf16> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    return %1 : f32
  }
  return
}
