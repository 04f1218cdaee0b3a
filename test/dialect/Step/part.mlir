// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// CHECK-LABEL: @part
func.func @part(%a: tensor<2x17xf32>) -> tensor<2x5xf32> {
  // CHECK: step.part %{{.*}} pieces 2 first 12 : tensor<2x17xf32> -> tensor<2x5xf32>
  %0 = step.part %a pieces 2 first 12 : tensor<2x17xf32> -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}
