// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
func.func @f(%x: tensor<4x6xf32>) {
  // CHECK: dist.all_gather %{{.*}} dim 0 over {"dp", "tp"} because "why" : tensor<4x6xf32> -> tensor<13x6xf32> in "h.0"
  %0 = dist.all_gather %x dim 0 over {"dp", "tp"} because "why" : tensor<4x6xf32> -> tensor<13x6xf32> in "h.0"
  return
}
