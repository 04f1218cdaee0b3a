// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

func.func @await(%a: tensor<8x4xf32>) {
  // CHECK: %h0_all_reduce = step.collective all_reduce sum %arg0 over "dp" on "gradients" because "zero 0" : tensor<8x4xf32> -> (tensor<8x4xf32>) in "h.0"
  %0 = step.collective all_reduce sum %a over "dp" on "gradients" because "zero 0" : tensor<8x4xf32> -> (tensor<8x4xf32>) in "h.0"
  // CHECK: step.await "gradients" 1
  step.await "gradients" 1
  return
}
