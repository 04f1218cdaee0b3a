// RUN: hocket-opt %s --codegen-fuse | FileCheck %s
// RUN: hocket-opt %s --codegen-fuse | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=AGAIN
// One layer's worth of ops: which become products, which run together, and what a kernel may do in place.

nn.model @m(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %x = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %x, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @one<"dp"=1>
dist.plan @p for @m on @one {
  batch over "dp" microbatch 2 sequences
}
// AGAIN: step.program @s0
step.program @s0 under @p stage 0 computes ["h.0"] microbatches 1 {
  %x_buffer = buffer activation "x" in slot : memref<2x4x8xf32>
  %r_buffer = buffer activation "r" in slot : memref<2x4x8xf32>
  %g_buffer = buffer parameter "g" in arena : memref<8xf32>
  %w_buffer = buffer parameter "w" in arena : memref<8x32xf32>
  %b_buffer = buffer parameter "b" in arena : memref<32xf32>
  %y_buffer = buffer activation "y" in slot : memref<2x4x32xf32>
  %dw_buffer = buffer accumulator "dw" in arena : memref<8x32xf32>
  %db_buffer = buffer accumulator "db" in arena : memref<32xf32>

  // CHECK: body forward {
  // CHECK-DAG: %[[X:.+]] = load %x
  // CHECK-DAG: %[[R:.+]] = load %r
  // CHECK-DAG: %[[G:.+]] = load %g
  // CHECK-DAG: %[[W:.+]] = load %w
  // CHECK-DAG: %[[B:.+]] = load %b
  // CHECK: %[[SUM:.+]], %[[N:.+]] = launch @[[NORM:k_add_layer_norm_8x8_[0-9a-f]+]](%[[X]], %[[R]], %[[G]])
  // CHECK-SAME: in "h.0" forward
  // CHECK: %[[H:.+]] = gemm %[[N]], %[[W]] mnk [8, 32, 8] leading [8, 32, 32]
  // CHECK-SAME: in "h.0.fc" forward
  // CHECK: %[[Y:.+]] = launch @[[GELU:k_add_gelu_8x32_[0-9a-f]+]](%[[H]], %[[B]])
  // CHECK: store %[[SUM]], %r
  // CHECK: store %[[Y]], %y
  body forward {
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
  // CHECK: body backward {
  // CHECK-DAG: %[[X:.+]] = load %x
  // CHECK-DAG: %[[DY:.+]] = load %y
  // CHECK-DAG: %[[DW:.+]] = load %dw
  // CHECK-DAG: %[[DB:.+]] = load %db
  // CHECK: %[[NEWDW:.+]] = gemm transpose_a %[[X]], %[[DY]] add %[[DW]] : tensor<8x32xf32> mnk [8, 32, 8] leading [8, 32, 32]
  // CHECK: store %[[NEWDW]], %dw
  // CHECK: %[[NEWDB:.+]] = launch @[[BIAS:k_sum_add_8x32_[0-9a-f]+]](%[[DY]], %[[DB]])
  // CHECK: store %[[NEWDB]], %db
  body backward {
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

// Both results may lie on either operand of the sum: a row of it is read before the norm of that row is written. The bias
// gradient may lie on its accumulator.
// CHECK: func.func private @[[NORM]]({{.*}} attributes {hocket.in_place = array<i64: 0, 0, 0, 1, 1, 0, 1, 1>}
// CHECK: func.func private @[[GELU]]({{.*}} attributes {hocket.in_place = array<i64: 0, 0>}
// CHECK: func.func private @[[BIAS]]({{.*}} attributes {hocket.in_place = array<i64: 0, 1>}
