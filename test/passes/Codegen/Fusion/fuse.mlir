// RUN: hocket-opt %s --codegen-fuse | FileCheck %s
// RUN: hocket-opt %s --codegen-fuse | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=AGAIN
// One layer's worth of ops: which become products, which run together, and what a kernel may do in place.

// AGAIN: step.program @s0
step.program @s0 under @p stage 0 layers "all" microbatches 1 {
  %x_buffer = buffer activation "x" in slot : memref<2x4x8xf32>
  %r_buffer = buffer activation "r" in slot : memref<2x4x8xf32>
  %g_buffer = buffer parameter "g" in arena : memref<8xf32>
  %w_buffer = buffer parameter "w" in arena : memref<8x32xf32>
  %b_buffer = buffer parameter "b" in arena : memref<32xf32>
  %y_buffer = buffer activation "y" in slot : memref<2x4x32xf32>
  %dw_buffer = buffer accumulator "dw" in arena : memref<8x32xf32>
  %db_buffer = buffer accumulator "db" in arena : memref<32xf32>

  // CHECK: body forward chunk 0 {
  // CHECK-DAG: %[[X:.+]] = load %x
  // CHECK-DAG: %[[R:.+]] = load %r
  // CHECK-DAG: %[[G:.+]] = load %g
  // CHECK-DAG: %[[W:.+]] = load %w
  // CHECK-DAG: %[[B:.+]] = load %b
  // CHECK: %[[SUM:.+]]:2 = launch @[[NORM:k_add_layer_norm_8x8_[0-9a-f]+]](%[[X]], %[[R]], %[[G]])
  // CHECK-SAME: in "h.0.ln_1" forward
  // CHECK: %[[H:.+]] = gemm %[[SUM]]#1, %[[W]] mnk [8, 32, 8] leading [8, 32, 32]
  // CHECK-SAME: in "h.0.fc" forward
  // CHECK: %[[Y:.+]] = launch @[[GELU:k_add_gelu_8x32_[0-9a-f]+]](%[[H]], %[[B]])
  // CHECK: store %[[SUM]]#0, %r
  // CHECK: store %[[Y]], %y
  body forward chunk 0 {
    %x = load %x_buffer : memref<2x4x8xf32> -> tensor<2x4x8xf32>
    %r = load %r_buffer : memref<2x4x8xf32> -> tensor<2x4x8xf32>
    %0 = nn.add %x, %r : tensor<2x4x8xf32>, tensor<2x4x8xf32> -> tensor<2x4x8xf32> in "h.0" forward
    %g = load %g_buffer : memref<8xf32> -> tensor<8xf32>
    %1 = nn.layer_norm %0, %g, %g : tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<2x4x8xf32> in "h.0.ln_1" forward
    %w = load %w_buffer : memref<8x32xf32> -> tensor<8x32xf32>
    %2 = nn.linear %1, %w : tensor<2x4x8xf32>, tensor<8x32xf32> -> tensor<2x4x32xf32> in "h.0.fc" forward
    %b = load %b_buffer : memref<32xf32> -> tensor<32xf32>
    %3 = nn.add %2, %b : tensor<2x4x32xf32>, tensor<32xf32> -> tensor<2x4x32xf32> in "h.0.fc" forward
    %4 = nn.gelu %3 : tensor<2x4x32xf32> -> tensor<2x4x32xf32> in "h.0" forward
    store %0, %r_buffer : tensor<2x4x8xf32>, memref<2x4x8xf32>
    store %4, %y_buffer : tensor<2x4x32xf32>, memref<2x4x32xf32>
  }

  // The weight's gradient is added by the product, the bias's by the kernel that sums the rows.
  // CHECK: body backward chunk 0 {
  // CHECK-DAG: %[[X:.+]] = load %x
  // CHECK-DAG: %[[DY:.+]] = load %y
  // CHECK-DAG: %[[DW:.+]] = load %dw
  // CHECK-DAG: %[[DB:.+]] = load %db
  // CHECK: %[[NEWDW:.+]] = gemm transpose_a %[[X]], %[[DY]] add %[[DW]] : tensor<8x32xf32> mnk [8, 32, 8] leading [8, 32, 32]
  // CHECK: store %[[NEWDW]], %dw
  // CHECK: %[[NEWDB:.+]] = launch @[[BIAS:k_sum_add_8x32_[0-9a-f]+]](%[[DY]], %[[DB]])
  // CHECK: store %[[NEWDB]], %db
  body backward chunk 0 {
    %x = load %x_buffer : memref<2x4x8xf32> -> tensor<2x4x8xf32>
    %dy = load %y_buffer : memref<2x4x32xf32> -> tensor<2x4x32xf32>
    %dw = load %dw_buffer : memref<8x32xf32> -> tensor<8x32xf32>
    %0 = nn.matmul %x, %dy "b s h, b s f -> h f" : tensor<2x4x8xf32>, tensor<2x4x32xf32> -> tensor<8x32xf32> in "h.0.fc" weight_grad
    %1 = nn.add %dw, %0 : tensor<8x32xf32>, tensor<8x32xf32> -> tensor<8x32xf32> in "h.0.fc" weight_grad
    store %1, %dw_buffer : tensor<8x32xf32>, memref<8x32xf32>
    %2 = nn.sum %dy : tensor<2x4x32xf32> -> tensor<32xf32> in "h.0.fc" weight_grad
    %db = load %db_buffer : memref<32xf32> -> tensor<32xf32>
    %3 = nn.add %db, %2 : tensor<32xf32>, tensor<32xf32> -> tensor<32xf32> in "h.0.fc" weight_grad
    store %3, %db_buffer : tensor<32xf32>, memref<32xf32>
  }
}

// The residual sum may lie on either operand, the norm's result on neither; the bias gradient on its accumulator.
// CHECK: func.func private @[[NORM]]({{.*}} attributes {hocket.in_place = array<i64: 0, 0, 0, 1>}
// CHECK: func.func private @[[GELU]]({{.*}} attributes {hocket.in_place = array<i64: 0, 0>}
// CHECK: func.func private @[[BIAS]]({{.*}} attributes {hocket.in_place = array<i64: 0, 1>}
