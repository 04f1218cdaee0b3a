// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%a: tensor<4xf32>, %n: i64) {
  // CHECK: %h0_ln_1_add_layer_norm = step.launch @k_add_layer_norm_4x8_1a2b(%arg0) scalars(%arg1) : (tensor<4xf32>) -> (tensor<4xf32>) in "h.0.ln_1" backward
  %0 = step.launch @k_add_layer_norm_4x8_1a2b(%a) scalars(%n) : (tensor<4xf32>) -> (tensor<4xf32>) in "h.0.ln_1" backward
  return
}
// CHECK-LABEL: @buffers
func.func @buffers(%a: memref<4xf32>, %b: memref<4xf32>) {
  // CHECK: step.launch @k(%arg0) outs(%arg1 : memref<4xf32>) : (memref<4xf32>) -> ()
  step.launch @k(%a) outs(%b : memref<4xf32>) : (memref<4xf32>) -> ()
  return
}
