// RUN: hocket-opt %s --codegen-cuda | FileCheck %s
// What a kernel becomes: functions of pointers to global memory and numbers, launches, scratch.

// One thread has eight elements: 4 x 64 x 768 / 8 / 256 blocks.
// CHECK-LABEL: module @gelu
// CHECK-SAME: hocket.launches = [{block = array<i64: 256, 1, 1>, grid = array<i64: 96, 1, 1>, shared = 0 : i64, symbol = "gelu"}]
// CHECK-SAME: hocket.scratch = 0
// CHECK: llvm.func @gelu(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>}
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
func.func private @gelu(%x: tensor<4x64x768xbf16>) -> tensor<4x64x768xbf16> {
  %y = nn.gelu %x : tensor<4x64x768xbf16> -> tensor<4x64x768xbf16>
  return %y : tensor<4x64x768xbf16>
}

// A warp a row, four rows a block; what may lie on an operand is not said to be apart.
// CHECK-LABEL: module @norm
// CHECK-SAME: hocket.launches = [{block = array<i64: 128, 1, 1>, grid = array<i64: 3, 1, 1>, shared = 0 : i64, symbol = "norm"}]
// CHECK: llvm.func @norm(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias})
// CHECK: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier0
func.func private @norm(%x: tensor<10x768xf32>, %g: tensor<768xf32>) -> (tensor<10x768xf32>, tensor<10x768xf32>) attributes {hocket.in_place = array<i64: 0, 0>} {
  %s = nn.mul %x, %g : tensor<10x768xf32>, tensor<768xf32> -> tensor<10x768xf32>
  %y = nn.rms_norm %s, %g : tensor<10x768xf32>, tensor<768xf32> -> tensor<10x768xf32>
  return %s, %y : tensor<10x768xf32>, tensor<10x768xf32>
}

// Sums down columns: statistics of rows, partial sums of groups, the groups in order.
// CHECK-LABEL: module @gains
// CHECK-SAME: symbol = "gains"}, {
// CHECK-SAME: symbol = "gains__1"}, {
// CHECK-SAME: symbol = "gains__2"}]
// CHECK-SAME: hocket.scratch = {{[1-9][0-9]*}}
func.func private @gains(%d: tensor<640x768xf32>, %x: tensor<640x768xf32>) -> tensor<768xf32> {
  %y = nn.rms_norm_param_grad %d, %x : tensor<640x768xf32>, tensor<640x768xf32> -> tensor<768xf32>
  return %y : tensor<768xf32>
}

// Three kernels in one launch: 1 + 1 + 2 blocks; the two of one size share their code, and their blocks choose between
// their pointers.
// CHECK-LABEL: module @group
// CHECK-SAME: hocket.launches = [{block = array<i64: 256, 1, 1>, grid = array<i64: 4, 1, 1>, shared = 0 : i64, symbol = "group"}]
// CHECK: llvm.func @group(
// CHECK-COUNT-4: llvm.inline_asm {{.*}}"mov.b64 $0, $1;", "=l,l"
// CHECK-NOT: llvm.inline_asm
// CHECK-LABEL: module
func.func private @group(%x: tensor<768xf32>, %y: tensor<768xf32>, %z: tensor<3000xf32>) -> (tensor<768xf32>, tensor<768xf32>, tensor<3000xf32>) attributes {hocket.parts = array<i64: 1, 1, 1>} {
  %0 = nn.silu %x : tensor<768xf32> -> tensor<768xf32>
  %1 = nn.silu %y : tensor<768xf32> -> tensor<768xf32>
  %2 = nn.silu %z : tensor<3000xf32> -> tensor<3000xf32>
  return %0, %1, %2 : tensor<768xf32>, tensor<768xf32>, tensor<3000xf32>
}
func.func private @last(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = nn.silu %x : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
