// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%a: tensor<8x4xf32>) {
  // CHECK: %h0_attn_all_reduce = step.collective all_reduce sum %arg0 over "tp" because "row parallel" : tensor<8x4xf32> -> (tensor<8x4xf32>) in "h.0.attn"
  %0 = step.collective all_reduce sum %a over "tp" because "row parallel" : tensor<8x4xf32> -> (tensor<8x4xf32>) in "h.0.attn"
  // CHECK: %wte_all_reduce = step.collective all_reduce sum %arg0 over "pp" stages [0, 3] because "tied" : tensor<8x4xf32> -> (tensor<8x4xf32>) in "wte"
  %1 = step.collective all_reduce sum %a over "pp" stages [0, 3] because "tied" : tensor<8x4xf32> -> (tensor<8x4xf32>) in "wte"
  // CHECK: %reduce_scatter = step.collective reduce_scatter sum %arg0 over {"dp", "cp"} because "zero 1" : tensor<8x4xf32> -> (tensor<2x4xf32>)
  %2 = step.collective reduce_scatter sum %a over {"dp", "cp"} because "zero 1" : tensor<8x4xf32> -> (tensor<2x4xf32>)
  // CHECK: %shift = step.collective shift sum %arg0 over "cp" because "ring" : tensor<8x4xf32> -> (tensor<8x4xf32>)
  %3 = step.collective shift sum %a over "cp" because "ring" : tensor<8x4xf32> -> (tensor<8x4xf32>)
  return
}
// CHECK-LABEL: @buffers
func.func @buffers(%a: memref<2x4xf32>, %b: memref<8x4xf32>) {
  // CHECK: step.collective all_gather sum %arg0 outs(%arg1 : memref<8x4xf32>) over "dp" because "zero 1" : memref<2x4xf32> -> ()
  step.collective all_gather sum %a outs(%b : memref<8x4xf32>) over "dp" because "zero 1" : memref<2x4xf32> -> ()
  return
}
