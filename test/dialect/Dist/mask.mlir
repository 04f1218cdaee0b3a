// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
func.func @f(%x: tensor<4x6xf32>) {
  // CHECK: dist.mask %{{.*}} dim 0 of 7 over "tp" with -inf : tensor<4x6xf32> -> tensor<4x6xf32> in "h.0"
  %0 = dist.mask %x dim 0 of 7 over "tp" with -inf : tensor<4x6xf32> -> tensor<4x6xf32> in "h.0"
  return
}
