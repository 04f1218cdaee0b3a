// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
func.func @f(%x: tensor<4x6xf32>) {
  // CHECK: dist.all_to_all %{{.*}} split 0 gather 1 over "cp" because "why" : tensor<4x6xf32> -> tensor<2x12xf32> in "h.0"
  %0 = dist.all_to_all %x split 0 gather 1 over "cp" because "why" : tensor<4x6xf32> -> tensor<2x12xf32> in "h.0"
  return
}
