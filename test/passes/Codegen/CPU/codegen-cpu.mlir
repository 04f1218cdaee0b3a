// RUN: hocket-opt %s --codegen-cpu=march=x86-64-v4 | mlir-translate --mlir-to-llvmir | opt -O3 -S | FileCheck %s
// Bulk loops are vectors of 32: two AVX-512 registers. tanh and exp are polynomials; nothing calls the C library.

// CHECK-LABEL: define void @gelu(
// CHECK: load <32 x float>
// CHECK: fmul <32 x float>
// CHECK: call <32 x float> @llvm.fma.v32f32(
// CHECK: store <32 x float>
// CHECK: call void @llvm.masked.store.v32f32
// CHECK: ret void
func.func private @gelu(%x: tensor<4x70xf32>) -> tensor<4x70xf32> {
  %y = nn.gelu %x : tensor<4x70xf32> -> tensor<4x70xf32>
  return %y : tensor<4x70xf32>
}

// CHECK-LABEL: define void @softmax_sum(
// CHECK: shufflevector <32 x float>
// CHECK: ret void
func.func private @softmax_sum(%x: tensor<4x70xf32>, %m: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.row_sum_exp %x, %m : tensor<4x70xf32>, tensor<4xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-NOT: call {{.*}}@tanh
// CHECK-NOT: call {{.*}}@exp
// CHECK-NOT: @llvm.tanh
// CHECK-NOT: @llvm.exp
