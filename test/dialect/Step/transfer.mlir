// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%a: tensor<8x4xf32>) {
  // CHECK: %h0_attn_transfer = step.transfer %arg0 on "offload" because "offload activations" : tensor<8x4xf32> -> (tensor<8x4xf32>) in "h.0.attn"
  %0 = step.transfer %a on "offload" because "offload activations" : tensor<8x4xf32> -> (tensor<8x4xf32>) in "h.0.attn"
  return
}
// CHECK-LABEL: @buffers
func.func @buffers(%a: memref<8x4xf32>, %b: memref<8x4xf32>) {
  // CHECK: step.transfer %arg0 outs(%arg1 : memref<8x4xf32>) because "offload activations" : memref<8x4xf32> -> ()
  step.transfer %a outs(%b : memref<8x4xf32>) because "offload activations" : memref<8x4xf32> -> ()
  return
}
