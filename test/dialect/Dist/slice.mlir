// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
func.func @f(%x: tensor<4x6xf32>) {
  // CHECK: dist.slice %{{.*}} dim 1 over {"tp":(2)2} : tensor<4x6xf32> -> tensor<4x3xf32> in "h.0"
  %0 = dist.slice %x dim 1 over {"tp":(2)2} : tensor<4x6xf32> -> tensor<4x3xf32> in "h.0"
  return
}
