// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: @plain
func.func @plain(%a: tensor<4x8xf32>, %b: tensor<16x8xf32>, %c: tensor<4x16xf32>) {
  // CHECK: %h0_attn_qkv_gemm = step.gemm %arg0, transpose_b %arg1 add %arg2 : tensor<4x16xf32> mnk [4, 16, 8] leading [8, 8, 16] : tensor<4x8xf32>, tensor<16x8xf32> -> (tensor<4x16xf32>) in "h.0.attn.qkv"
  %0 = step.gemm %a, transpose_b %b add %c : tensor<4x16xf32> mnk [4, 16, 8] leading [8, 8, 16] : tensor<4x8xf32>, tensor<16x8xf32> -> (tensor<4x16xf32>) in "h.0.attn.qkv"
  return
}
// CHECK-LABEL: @batched
func.func @batched(%a: memref<2x4x8xf32>, %b: memref<8x16xf32>, %y: memref<2x4x16xf32>) {
  // CHECK: step.gemm %arg0, %arg1 outs(%arg2 : memref<2x4x16xf32>) mnk [4, 16, 8] leading [8, 16, 16] batch 2 strides [32, 0, 64] : memref<2x4x8xf32>, memref<8x16xf32> -> ()
  step.gemm %a, %b outs(%y : memref<2x4x16xf32>) mnk [4, 16, 8] leading [8, 16, 16] batch 2 strides [32, 0, 64] : memref<2x4x8xf32>, memref<8x16xf32> -> ()
  return
}
// Products of 16 bits, with a result of their own type or of f32.
// CHECK-LABEL: @narrow
func.func @narrow(%a: tensor<4x8xbf16>, %b: tensor<8x16xbf16>, %c: tensor<4x16xf32>) {
  // CHECK: step.gemm %arg0, %arg1 mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xbf16>)
  %0 = step.gemm %a, %b mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xbf16>)
  // CHECK: step.gemm %arg0, %arg1 add %arg2 : tensor<4x16xf32> mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xf32>)
  %1 = step.gemm %a, %b add %c : tensor<4x16xf32> mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xf32>)
  return
}
// An epilogue, with what it reads besides, and makes besides.
// CHECK-LABEL: @epilogues
func.func @epilogues(%a: tensor<4x8xbf16>, %b: tensor<8x16xbf16>, %bias: tensor<2x8xbf16>, %before: tensor<4x16xbf16>, %c: tensor<4x16xf32>) {
  // CHECK: %h0_mlp_fc_gemm_bias = step.gemm %arg0, %arg1 then bias(%arg2 : tensor<2x8xbf16>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xbf16>) in "h.0.mlp.fc" forward
  %0 = step.gemm %a, %b then bias(%bias : tensor<2x8xbf16>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xbf16>) in "h.0.mlp.fc" forward
  // CHECK: %h0_mlp_fc_gemm_bias_gelu_0, %h0_mlp_fc_gemm_bias_gelu_1 = step.gemm %arg0, %arg1 then bias_gelu(%arg2 : tensor<2x8xbf16>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xbf16>, tensor<4x16xbf16>) in "h.0.mlp.fc" forward
  %1:2 = step.gemm %a, %b then bias_gelu(%bias : tensor<2x8xbf16>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xbf16>, tensor<4x16xbf16>) in "h.0.mlp.fc" forward
  // CHECK: step.gemm %arg0, %arg1 then gelu_grad(%arg3 : tensor<4x16xbf16>) mnk
  %2 = step.gemm %a, %b then gelu_grad(%before : tensor<4x16xbf16>) mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xbf16>)
  // CHECK: %gemm_gelu_0, %gemm_gelu_1 = step.gemm %arg0, %arg1 then gelu mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xbf16>, tensor<4x16xbf16>)
  %3:2 = step.gemm %a, %b then gelu mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xbf16>, tensor<4x16xbf16>)
  // CHECK: step.gemm %arg0, %arg1 then sum_a mnk {{.+}} -> (tensor<4x16xbf16>, tensor<4xbf16>)
  %4:2 = step.gemm %a, %b then sum_a mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xbf16>, tensor<4xbf16>)
  // CHECK: step.gemm %arg0, %arg1 add %arg4 : tensor<4x16xf32> then sum_b mnk {{.+}} -> (tensor<4x16xf32>, tensor<16xf32>)
  %5:2 = step.gemm %a, %b add %c : tensor<4x16xf32> then sum_b mnk [4, 16, 8] leading [8, 16, 16] : tensor<4x8xbf16>, tensor<8x16xbf16> -> (tensor<4x16xf32>, tensor<16xf32>)
  return
}
// CHECK-LABEL: @in_memory
func.func @in_memory(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %bias: memref<16xf32>, %y: memref<4x16xf32>, %before: memref<4x16xf32>) {
  // CHECK: step.gemm %arg0, %arg1 then bias_gelu(%arg2 : memref<16xf32>) outs(%arg3, %arg4 : memref<4x16xf32>, memref<4x16xf32>) mnk [4, 16, 8] leading [8, 16, 16] : memref<4x8xf32>, memref<8x16xf32> -> ()
  step.gemm %a, %b then bias_gelu(%bias : memref<16xf32>) outs(%y, %before : memref<4x16xf32>, memref<4x16xf32>) mnk [4, 16, 8] leading [8, 16, 16] : memref<4x8xf32>, memref<8x16xf32> -> ()
  return
}
