// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

func.func @f(%x: tensor<8x6xf32>, %at: i64) {
  // CHECK: step.slice %arg0 dim 0 offset %arg1 : tensor<8x6xf32> -> tensor<4x6xf32>
  %0 = step.slice %x dim 0 offset %at : tensor<8x6xf32> -> tensor<4x6xf32>
  return
}
