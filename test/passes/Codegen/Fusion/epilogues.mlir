// RUN: hocket-opt %s --codegen-fuse=epilogues=true | FileCheck %s
// RUN: hocket-opt %s --codegen-fuse=epilogues=true | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=AGAIN
// RUN: hocket-opt %s --codegen-fuse | FileCheck %s --check-prefix=WITHOUT
// What joins a product as its epilogue: bias, gelu with and without one, gelu's gradient, sums of operands. Only where it is asked for.

nn.model @m(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %x = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %x, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @one<"dp"=1, "tp"=2>
dist.plan @p for @m on @one {
  batch over "dp" microbatch 2 sequences
}

// AGAIN: step.program @s0
// WITHOUT-NOT: {{gemm .*}} then
step.program @s0 under @p stage 0 computes ["h.0"] microbatches 1 {
  %x_buffer = buffer activation "x" in slot : memref<2x4x8xbf16>
  %y_buffer = buffer activation "y" in slot : memref<2x4x8xbf16>
  %before_buffer = buffer activation "before" in slot : memref<2x4x16xbf16>
  %f_buffer = buffer activation "f" in slot : memref<2x4x16xbf16>
  %w_buffer = buffer parameter "w" in arena : memref<8x16xbf16>
  %b_buffer = buffer parameter "b" in arena : memref<16xbf16>
  %v_buffer = buffer parameter "v" in arena : memref<16x8xbf16>
  %c_buffer = buffer parameter "c" in arena : memref<8xbf16>
  %dw_buffer = buffer accumulator "dw" in arena : memref<8x16xf32>
  %db_buffer = buffer accumulator "db" in arena : memref<16xf32>
  %dv_buffer = buffer accumulator "dv" in arena : memref<16x8xf32>
  %dc_buffer = buffer accumulator "dc" in arena : memref<8xf32>
  %dwt_buffer = buffer accumulator "dwt" in arena : memref<16x8xf32>
  %dx_buffer = buffer activation "dx" in slot : memref<2x4x8xbf16>

  // CHECK: body forward {
  // gelu takes the sum along, which is kept for backward
  // CHECK: %[[F:.+]], %[[BEFORE:.+]] = gemm %{{.+}}, %{{.+}} then bias_gelu(%b.value : tensor<16xbf16>) mnk [8, 16, 8] leading [8, 16, 16] {{.+}} -> (tensor<2x4x16xbf16>, tensor<2x4x16xbf16>) in "h.0.mlp.fc" forward
  // CHECK-DAG: store %[[BEFORE]], %before
  // CHECK-DAG: store %[[F]], %f
  // CHECK: %[[Y:.+]] = gemm %[[F]], %{{.+}} then bias(%c.value : tensor<8xbf16>) mnk [8, 8, 16] {{.+}} -> (tensor<2x4x8xbf16>) in "h.0.mlp.proj" forward
  // CHECK-NOT: launch
  // CHECK: store %[[Y]], %y
  body forward {
    %x = load %x_buffer : memref<2x4x8xbf16> -> tensor<2x4x8xbf16>
    %w = load %w_buffer : memref<8x16xbf16> -> tensor<8x16xbf16>
    %0 = nn.linear %x, %w : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.mlp.fc" forward
    %b = load %b_buffer : memref<16xbf16> -> tensor<16xbf16>
    %1 = nn.add %0, %b : tensor<2x4x16xbf16>, tensor<16xbf16> -> tensor<2x4x16xbf16> in "h.0.mlp.fc" forward
    store %1, %before_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    %2 = nn.gelu %1 : tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> in "h.0.mlp" forward
    store %2, %f_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    %v = load %v_buffer : memref<16x8xbf16> -> tensor<16x8xbf16>
    %3 = nn.linear %2, %v : tensor<2x4x16xbf16>, tensor<16x8xbf16> -> tensor<2x4x8xbf16> in "h.0.mlp.proj" forward
    %c = load %c_buffer : memref<8xbf16> -> tensor<8xbf16>
    %4 = nn.add %3, %c : tensor<2x4x8xbf16>, tensor<8xbf16> -> tensor<2x4x8xbf16> in "h.0.mlp.proj" forward
    store %4, %y_buffer : tensor<2x4x8xbf16>, memref<2x4x8xbf16>
  }

  // The bias gradient is found with the weight's, in f32, though it stood before it; what adds it up follows.
  // CHECK: body backward {
  // CHECK: %[[DF:.+]] = gemm %y.value, transpose_b %v.value then gelu_grad(%before.value : tensor<2x4x16xbf16>) mnk [8, 16, 8] {{.+}} in "h.0.mlp.proj" backward
  // CHECK: %{{.+}}, %[[DC:.+]] = gemm transpose_a %f.value, %y.value add %dv.value : tensor<16x8xf32> then sum_b mnk [16, 8, 8] {{.+}} -> (tensor<16x8xf32>, tensor<8xf32>) in "h.0.mlp.proj" weight_grad
  // CHECK: launch @k_add_1x8_{{.+}}(%dc.value, %[[DC]])
  // CHECK: gemm %[[DF]], transpose_b %w.value mnk
  // CHECK: %{{.+}}, %[[DB:.+]] = gemm transpose_a %x.value, %[[DF]] add %dw.value : tensor<8x16xf32> then sum_b mnk [8, 16, 8] {{.+}} -> (tensor<8x16xf32>, tensor<16xf32>)
  // CHECK: launch @k_add_1x16_{{.+}}(%db.value, %[[DB]])
  // CHECK-NOT: launch
  body backward {
    %y = load %y_buffer : memref<2x4x8xbf16> -> tensor<2x4x8xbf16>
    %0 = nn.sum %y : tensor<2x4x8xbf16> -> tensor<8xf32> in "h.0.mlp.proj" weight_grad
    %dc = load %dc_buffer : memref<8xf32> -> tensor<8xf32>
    %1 = nn.add %dc, %0 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> in "h.0.mlp.proj" weight_grad
    store %1, %dc_buffer : tensor<8xf32>, memref<8xf32>
    %v = load %v_buffer : memref<16x8xbf16> -> tensor<16x8xbf16>
    %2 = nn.matmul %y, %v "b s h, f h -> b s f" : tensor<2x4x8xbf16>, tensor<16x8xbf16> -> tensor<2x4x16xbf16> in "h.0.mlp.proj" backward
    %f = load %f_buffer : memref<2x4x16xbf16> -> tensor<2x4x16xbf16>
    %3 = nn.matmul %f, %y "b s f, b s h -> f h" : tensor<2x4x16xbf16>, tensor<2x4x8xbf16> -> tensor<16x8xf32> in "h.0.mlp.proj" weight_grad
    %dv = load %dv_buffer : memref<16x8xf32> -> tensor<16x8xf32>
    %4 = nn.add %dv, %3 : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x8xf32> in "h.0.mlp.proj" weight_grad
    store %4, %dv_buffer : tensor<16x8xf32>, memref<16x8xf32>
    %before = load %before_buffer : memref<2x4x16xbf16> -> tensor<2x4x16xbf16>
    %5 = nn.elementwise "gelu_grad" %2, %before : tensor<2x4x16xbf16>, tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> {
    ^bb0(%by: f32, %at: f32):
      %slope = arith.constant 0.797884583 : f32
      %cubic = arith.constant 4.471500e-02 : f32
      %s0 = arith.mulf %at, %at : f32
      %s1 = arith.mulf %s0, %at : f32
      %s2 = arith.mulf %cubic, %s1 : f32
      %s3 = arith.addf %at, %s2 : f32
      %s4 = arith.mulf %slope, %s3 : f32
      %one = arith.constant 1.000000e+00 : f32
      %s5 = math.tanh %s4 : f32
      %s6 = arith.addf %one, %s5 : f32
      %half = arith.constant 5.000000e-01 : f32
      %s7 = arith.mulf %half, %at : f32
      %s8 = arith.mulf %by, %s6 : f32
      %s9 = arith.mulf %by, %s7 : f32
      %s10 = arith.mulf %s8, %half : f32
      %s11 = arith.mulf %s5, %s5 : f32
      %s12 = arith.subf %one, %s11 : f32
      %s13 = arith.mulf %s9, %s12 : f32
      %s14 = arith.mulf %s13, %slope : f32
      %s15 = arith.addf %s10, %s14 : f32
      %s16 = arith.mulf %s14, %cubic : f32
      %s17 = arith.mulf %s16, %at : f32
      %s18 = arith.mulf %s16, %s0 : f32
      %s19 = arith.addf %s15, %s18 : f32
      %s20 = arith.mulf %s17, %at : f32
      %s21 = arith.addf %s19, %s20 : f32
      %s22 = arith.addf %s21, %s20 : f32
      return %s22 : f32
    } in "h.0.mlp" backward
    %6 = nn.sum %5 : tensor<2x4x16xbf16> -> tensor<16xf32> in "h.0.mlp.fc" weight_grad
    %db = load %db_buffer : memref<16xf32> -> tensor<16xf32>
    %7 = nn.add %db, %6 : tensor<16xf32>, tensor<16xf32> -> tensor<16xf32> in "h.0.mlp.fc" weight_grad
    store %7, %db_buffer : tensor<16xf32>, memref<16xf32>
    %w = load %w_buffer : memref<8x16xbf16> -> tensor<8x16xbf16>
    %8 = nn.matmul %5, %w "b s f, h f -> b s h" : tensor<2x4x16xbf16>, tensor<8x16xbf16> -> tensor<2x4x8xbf16> in "h.0.mlp.fc" backward
    store %8, %dx_buffer : tensor<2x4x8xbf16>, memref<2x4x8xbf16>
    %x = load %x_buffer : memref<2x4x8xbf16> -> tensor<2x4x8xbf16>
    %9 = nn.matmul %x, %5 "b s h, b s f -> h f" : tensor<2x4x8xbf16>, tensor<2x4x16xbf16> -> tensor<8x16xf32> in "h.0.mlp.fc" weight_grad
    %dw = load %dw_buffer : memref<8x16xf32> -> tensor<8x16xf32>
    %10 = nn.add %dw, %9 : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> in "h.0.mlp.fc" weight_grad
    store %10, %dw_buffer : tensor<8x16xf32>, memref<8x16xf32>
  }

  // A weight stored the other way around: the gradient of the output is the product's a.
  // CHECK: body weight_grad {
  // CHECK: gemm transpose_a %f.value, %x.value add %dwt.value : tensor<16x8xf32> then sum_a mnk [16, 8, 8] {{.+}} -> (tensor<16x8xf32>, tensor<16xf32>)
  body weight_grad {
    %f = load %f_buffer : memref<2x4x16xbf16> -> tensor<2x4x16xbf16>
    %x = load %x_buffer : memref<2x4x8xbf16> -> tensor<2x4x8xbf16>
    %0 = nn.matmul %f, %x "b s f, b s h -> f h" : tensor<2x4x16xbf16>, tensor<2x4x8xbf16> -> tensor<16x8xf32> in "h.0.mlp.fc" weight_grad
    %dwt = load %dwt_buffer : memref<16x8xf32> -> tensor<16x8xf32>
    %1 = nn.add %dwt, %0 : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x8xf32> in "h.0.mlp.fc" weight_grad
    store %1, %dwt_buffer : tensor<16x8xf32>, memref<16x8xf32>
    %2 = nn.sum %f : tensor<2x4x16xbf16> -> tensor<16xf32> in "h.0.mlp.fc" weight_grad
    %db = load %db_buffer : memref<16xf32> -> tensor<16xf32>
    %3 = nn.add %db, %2 : tensor<16xf32>, tensor<16xf32> -> tensor<16xf32> in "h.0.mlp.fc" weight_grad
    store %3, %db_buffer : tensor<16xf32>, memref<16xf32>
  }
  // Gelu of a product without bias; the product itself, of which something else is made too, is the second result.
  // CHECK: body recompute {
  // CHECK: %[[U:.+]], %[[P:.+]] = gemm %x.value, %w.value then gelu mnk [8, 16, 8] leading [8, 16, 16] {{.+}} -> (tensor<2x4x16xbf16>, tensor<2x4x16xbf16>) in "h.0.mlp.fc" forward
  // CHECK-NOT: launch
  // CHECK-DAG: store %[[P]], %before
  // CHECK-DAG: store %[[U]], %f
  body recompute {
    %x = load %x_buffer : memref<2x4x8xbf16> -> tensor<2x4x8xbf16>
    %w = load %w_buffer : memref<8x16xbf16> -> tensor<8x16xbf16>
    %0 = nn.linear %x, %w : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.mlp.fc" forward
    store %0, %before_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    %1 = nn.gelu %0 : tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> in "h.0.mlp" forward
    store %1, %f_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
  }
}
