// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// CHECK-LABEL: @bucket
func.func @bucket(%a: tensor<2x3x4xf32>, %b: tensor<2x5xf32>) -> tensor<2x17xf32> {
  // CHECK: step.place %{{.*}} pieces 2 first 0 : tensor<2x3x4xf32> -> tensor<2x17xf32>
  %0 = step.place %a pieces 2 first 0 : tensor<2x3x4xf32> -> tensor<2x17xf32>
  // CHECK: step.place %{{.*}} pieces 2 first 12 in %{{.*}} : tensor<2x5xf32>, tensor<2x17xf32> -> tensor<2x17xf32>
  %1 = step.place %b pieces 2 first 12 in %0 : tensor<2x5xf32>, tensor<2x17xf32> -> tensor<2x17xf32>
  return %1 : tensor<2x17xf32>
}
