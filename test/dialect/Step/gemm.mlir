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
