// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
func.func @f(%x: tensor<4x6xf32>) {
  // CHECK: dist.reduce_scatter sum %{{.*}} dim 1 over "dp" because "why" : tensor<4x6xf32> -> tensor<4x3xf32> in "h.0"
  %0 = dist.reduce_scatter sum %x dim 1 over "dp" because "why" : tensor<4x6xf32> -> tensor<4x3xf32> in "h.0"
  return
}
