// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

func.func @f(%v: tensor<4x8xf32>, %b: memref<4x8xf32>) {
  // CHECK: step.store %arg0, %arg1 : tensor<4x8xf32>, memref<4x8xf32>
  step.store %v, %b : tensor<4x8xf32>, memref<4x8xf32>
  return
}
