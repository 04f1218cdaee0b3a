// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

func.func @f(%x: tensor<8x6xf32>, %n: i64) {
  // CHECK: step.mask %arg0 dim 1 extent %arg1 with 0.0 : tensor<8x6xf32> -> tensor<8x6xf32>
  %0 = step.mask %x dim 1 extent %n with 0.0 : tensor<8x6xf32> -> tensor<8x6xf32>
  return
}
