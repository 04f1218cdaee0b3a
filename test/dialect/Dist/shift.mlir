// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
func.func @f(%x: tensor<4x6xf32>) {
  // CHECK: dist.shift %{{.*}} over "cp" because "why" : tensor<4x6xf32> -> tensor<4x6xf32> in "h.0" backward
  %0 = dist.shift %x over "cp" because "why" : tensor<4x6xf32> -> tensor<4x6xf32> in "h.0" backward
  return
}
