// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

func.func @f(%x: tensor<4x5x6xf32>) {
  // CHECK: step.pack %arg0 dim 1 pieces 2 : tensor<4x5x6xf32> -> tensor<2x4x3x6xf32>
  %0 = step.pack %x dim 1 pieces 2 : tensor<4x5x6xf32> -> tensor<2x4x3x6xf32>
  return
}
