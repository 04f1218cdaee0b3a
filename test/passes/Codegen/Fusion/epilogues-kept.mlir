// RUN: hocket-opt %s --codegen-fuse=epilogues=true | FileCheck %s --implicit-check-not=" then "
// What does not join a product: each case lacks one thing of epilogues.mlir.

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

step.program @s0 under @p stage 0 computes ["h.0", "h.1"] microbatches 1 {
  %x_buffer = buffer activation "x" in slot : memref<2x4x8xbf16>
  %w_buffer = buffer parameter "w" in arena : memref<8x16xbf16>
  %b_buffer = buffer parameter "b" in arena : memref<16xbf16>
  %o1_buffer = buffer activation "o1" in slot : memref<2x4x16xbf16>
  %o2_buffer = buffer activation "o2" in slot : memref<2x4x16xbf16>
  %o3_buffer = buffer activation "o3" in slot : memref<2x4x16xbf16>
  %whole_buffer = buffer activation "whole" in slot : memref<2x4x16xbf16>
  %o4_buffer = buffer activation "o4" in slot : memref<2x4x16xbf16>
  %rows_buffer = buffer activation "rows" in slot : memref<4x16xbf16>
  %o5_buffer = buffer activation "o5" in slot : memref<2x4x16xbf16>
  %o6_buffer = buffer activation "o6" in slot : memref<2x4x16xbf16>
  %bx_buffer = buffer activation "bx" in slot : memref<3x4x8xbf16>
  %bw_buffer = buffer activation "bw" in slot : memref<3x8x16xbf16>
  %o7_buffer = buffer activation "o7" in slot : memref<3x4x16xbf16>
  %r_buffer = buffer activation "r" in slot : memref<1x1x8xbf16>
  %o8_buffer = buffer activation "o8" in slot : memref<1x1x16xbf16>
  %h_buffer = buffer activation "h" in slot : memref<2x4x16xbf16>
  %before_buffer = buffer activation "before" in slot : memref<2x4x16xbf16>
  %o9_buffer = buffer activation "o9" in slot : memref<2x4x16xbf16>
  %o10_buffer = buffer activation "o10" in slot : memref<2x4x16xbf16>
  %o11_buffer = buffer activation "o11" in slot : memref<2x4x16xbf16>
  %o12_buffer = buffer activation "o12" in slot : memref<2x4x16xbf16>
  %w12_buffer = buffer parameter "w12" in arena : memref<8x12xbf16>
  %before12_buffer = buffer activation "before12" in slot : memref<2x4x12xbf16>
  %o13_buffer = buffer activation "o13" in slot : memref<2x4x12xbf16>
  %o14_buffer = buffer activation "o14" in slot : memref<8x16xf32>
  %o15_buffer = buffer activation "o15" in slot : memref<16xf32>
  %g_buffer = buffer activation "g" in slot : memref<2x4x16xbf16>
  %o16_buffer = buffer activation "o16" in slot : memref<8x16xbf16>
  %o17_buffer = buffer activation "o17" in slot : memref<16xf32>
  %i_buffer = buffer activation "i" in slot : memref<2x4x16xbf16>
  %o18_buffer = buffer activation "o18" in slot : memref<8x16xf32>
  %o19_buffer = buffer activation "o19" in slot : memref<4x16xf32>
  %j_buffer = buffer activation "j" in slot : memref<2x4x16xbf16>
  %o20_buffer = buffer activation "o20" in slot : memref<16xf32>
  %o21_buffer = buffer activation "o21" in slot : memref<8x16xf32>
  %j32_buffer = buffer activation "j32" in slot : memref<2x4x16xf32>
  %h32_buffer = buffer activation "h32" in slot : memref<2x4x16xf32>
  %square_buffer = buffer activation "square" in slot : memref<16x16xf32>
  %early_buffer = buffer activation "early" in slot : memref<16xf32>
  %late_buffer = buffer activation "late" in slot : memref<8x16xf32>
  // CHECK: body forward {
  body forward {
    %x = load %x_buffer : memref<2x4x8xbf16> -> tensor<2x4x8xbf16>
    %w = load %w_buffer : memref<8x16xbf16> -> tensor<8x16xbf16>
    %b = load %b_buffer : memref<16xbf16> -> tensor<16xbf16>
    // the product is needed as it is, too
    %0 = nn.linear %x, %w : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    %1 = nn.add %0, %b : tensor<2x4x16xbf16>, tensor<16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    store %0, %o1_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    store %1, %o2_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    // its ranks hold summands: the bias is added to their sum
    %2 = nn.linear %x, %w : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    %3 = collective all_reduce sum %2 over "tp" because "test" : tensor<2x4x16xbf16> -> (tensor<2x4x16xbf16>) in "h.0.fc" forward
    %4 = nn.add %3, %b : tensor<2x4x16xbf16>, tensor<16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    store %4, %o3_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    // one number a row (of columns of their own) is no bias; nor a whole matrix
    %5 = nn.linear %x, %w : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    %whole = load %whole_buffer : memref<2x4x16xbf16> -> tensor<2x4x16xbf16>
    %6 = nn.add %5, %whole : tensor<2x4x16xbf16>, tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    store %6, %o4_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    %7 = nn.linear %x, %w : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    %rows = load %rows_buffer : memref<4x16xbf16> -> tensor<4x16xbf16>
    %8 = nn.add %7, %rows : tensor<2x4x16xbf16>, tensor<4x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    store %8, %o5_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    // of another layer, which may be on another stage
    %9 = nn.linear %x, %w : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    %10 = nn.add %9, %b : tensor<2x4x16xbf16>, tensor<16xbf16> -> tensor<2x4x16xbf16> in "h.1.fc" forward
    store %10, %o6_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    // a batch of products
    %bx = load %bx_buffer : memref<3x4x8xbf16> -> tensor<3x4x8xbf16>
    %bw = load %bw_buffer : memref<3x8x16xbf16> -> tensor<3x8x16xbf16>
    %11 = nn.matmul %bx, %bw "e t h, e h f -> e t f" : tensor<3x4x8xbf16>, tensor<3x8x16xbf16> -> tensor<3x4x16xbf16> in "h.0.fc" forward
    %12 = nn.add %11, %b : tensor<3x4x16xbf16>, tensor<16xbf16> -> tensor<3x4x16xbf16> in "h.0.fc" forward
    store %12, %o7_buffer : tensor<3x4x16xbf16>, memref<3x4x16xbf16>
    // one row
    %r = load %r_buffer : memref<1x1x8xbf16> -> tensor<1x1x8xbf16>
    %13 = nn.linear %r, %w : tensor<1x1x8xbf16>, tensor<8x16xbf16> -> tensor<1x1x16xbf16> in "h.0.fc" forward
    %14 = nn.add %13, %b : tensor<1x1x16xbf16>, tensor<16xbf16> -> tensor<1x1x16xbf16> in "h.0.fc" forward
    store %14, %o8_buffer : tensor<1x1x16xbf16>, memref<1x1x16xbf16>
  }
  // CHECK: body recompute {
  body recompute {
    %x = load %x_buffer : memref<2x4x8xbf16> -> tensor<2x4x8xbf16>
    %w = load %w_buffer : memref<8x16xbf16> -> tensor<8x16xbf16>
    // rounded before gelu is taken of it
    %0 = nn.matmul %x, %w "b s h, h f -> b s f" : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xf32> in "h.0.fc" forward
    %1 = nn.cast %0 : tensor<2x4x16xf32> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    %2 = nn.gelu %1 : tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> in "h.0.mlp" forward
    store %2, %o1_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    // its ranks hold summands
    %3 = nn.linear %x, %w : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    %4 = collective all_reduce sum %3 over "tp" because "test" : tensor<2x4x16xbf16> -> (tensor<2x4x16xbf16>) in "h.0.fc" forward
    %5 = nn.gelu %4 : tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> in "h.0.mlp" forward
    store %5, %o2_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    // of another layer, which may be on another stage
    %6 = nn.linear %x, %w : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" forward
    %7 = nn.gelu %6 : tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> in "h.1.mlp" forward
    store %7, %o3_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    // a batch of products
    %bx = load %bx_buffer : memref<3x4x8xbf16> -> tensor<3x4x8xbf16>
    %bw = load %bw_buffer : memref<3x8x16xbf16> -> tensor<3x8x16xbf16>
    %8 = nn.matmul %bx, %bw "e t h, e h f -> e t f" : tensor<3x4x8xbf16>, tensor<3x8x16xbf16> -> tensor<3x4x16xbf16> in "h.0.fc" forward
    %9 = nn.gelu %8 : tensor<3x4x16xbf16> -> tensor<3x4x16xbf16> in "h.0.mlp" forward
    store %9, %o7_buffer : tensor<3x4x16xbf16>, memref<3x4x16xbf16>
    // rows that are no multiple of 8 elements
    %w12 = load %w12_buffer : memref<8x12xbf16> -> tensor<8x12xbf16>
    %10 = nn.linear %x, %w12 : tensor<2x4x8xbf16>, tensor<8x12xbf16> -> tensor<2x4x12xbf16> in "h.0.fc" forward
    %11 = nn.gelu %10 : tensor<2x4x12xbf16> -> tensor<2x4x12xbf16> in "h.0.mlp" forward
    store %11, %o13_buffer : tensor<2x4x12xbf16>, memref<2x4x12xbf16>
  }
  // CHECK: body backward {
  body backward {
    %x = load %x_buffer : memref<2x4x8xbf16> -> tensor<2x4x8xbf16>
    %h = load %h_buffer : memref<2x4x16xbf16> -> tensor<2x4x16xbf16>
    %before = load %before_buffer : memref<2x4x16xbf16> -> tensor<2x4x16xbf16>
    %w = load %w_buffer : memref<8x16xbf16> -> tensor<8x16xbf16>
    // rounded before gelu's gradient is taken of it, and so not what the library has
    %0 = nn.matmul %x, %w "b s h, h f -> b s f" : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xf32> in "h.0.fc" backward
    %1 = nn.cast %0 : tensor<2x4x16xf32> -> tensor<2x4x16xbf16> in "h.0.fc" backward
    %2 = nn.elementwise "gelu_grad" %1, %before : tensor<2x4x16xbf16>, tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> {
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
    store %2, %o9_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    // another function of this name
    %3 = nn.matmul %x, %w "b s h, h f -> b s f" : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" backward
    %4 = nn.elementwise "gelu_grad" %3, %before : tensor<2x4x16xbf16>, tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> {
    ^bb0(%by: f32, %at: f32):
      %slope = arith.constant 0.797 : f32
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
    store %4, %o10_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    // the product where the number should be
    %5 = nn.matmul %x, %w "b s h, h f -> b s f" : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" backward
    %6 = nn.elementwise "gelu_grad" %before, %5 : tensor<2x4x16xbf16>, tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> {
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
    store %6, %o11_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    // of another phase, which may be a body of its own
    %7 = nn.matmul %x, %w "b s h, h f -> b s f" : tensor<2x4x8xbf16>, tensor<8x16xbf16> -> tensor<2x4x16xbf16> in "h.0.fc" backward
    %8 = nn.elementwise "gelu_grad" %7, %before : tensor<2x4x16xbf16>, tensor<2x4x16xbf16> -> tensor<2x4x16xbf16> {
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
    } in "h.0.mlp" weight_grad
    store %8, %o12_buffer : tensor<2x4x16xbf16>, memref<2x4x16xbf16>
    %w12 = load %w12_buffer : memref<8x12xbf16> -> tensor<8x12xbf16>
    %before12 = load %before12_buffer : memref<2x4x12xbf16> -> tensor<2x4x12xbf16>
    // rows that are no multiple of 8 elements
    %9 = nn.matmul %x, %w12 "b s h, h f -> b s f" : tensor<2x4x8xbf16>, tensor<8x12xbf16> -> tensor<2x4x12xbf16> in "h.0.fc" backward
    %10 = nn.elementwise "gelu_grad" %9, %before12 : tensor<2x4x12xbf16>, tensor<2x4x12xbf16> -> tensor<2x4x12xbf16> {
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
    store %10, %o13_buffer : tensor<2x4x12xbf16>, memref<2x4x12xbf16>
  }
  // CHECK: body weight_grad {
  body weight_grad {
    %x = load %x_buffer : memref<2x4x8xbf16> -> tensor<2x4x8xbf16>
    %h = load %h_buffer : memref<2x4x16xbf16> -> tensor<2x4x16xbf16>
    // a sum of another phase
    %0 = nn.matmul %x, %h "b s h, b s f -> h f" : tensor<2x4x8xbf16>, tensor<2x4x16xbf16> -> tensor<8x16xf32> in "h.0.fc" weight_grad
    %1 = nn.sum %h : tensor<2x4x16xbf16> -> tensor<16xf32> in "h.0.fc" backward
    store %0, %o14_buffer : tensor<8x16xf32>, memref<8x16xf32>
    store %1, %o15_buffer : tensor<16xf32>, memref<16xf32>
    // a sum in more bits than the product
    %g = load %g_buffer : memref<2x4x16xbf16> -> tensor<2x4x16xbf16>
    %2 = nn.matmul %x, %g "b s h, b s f -> h f" : tensor<2x4x8xbf16>, tensor<2x4x16xbf16> -> tensor<8x16xbf16> in "h.0.fc" weight_grad
    %3 = nn.sum %g : tensor<2x4x16xbf16> -> tensor<16xf32> in "h.0.fc" weight_grad
    store %2, %o16_buffer : tensor<8x16xbf16>, memref<8x16xbf16>
    store %3, %o17_buffer : tensor<16xf32>, memref<16xf32>
    // a sum over the sequences alone
    %i = load %i_buffer : memref<2x4x16xbf16> -> tensor<2x4x16xbf16>
    %4 = nn.matmul %x, %i "b s h, b s f -> h f" : tensor<2x4x8xbf16>, tensor<2x4x16xbf16> -> tensor<8x16xf32> in "h.0.fc" weight_grad
    %5 = nn.sum %i : tensor<2x4x16xbf16> -> tensor<4x16xf32> in "h.0.fc" weight_grad
    store %4, %o18_buffer : tensor<8x16xf32>, memref<8x16xf32>
    store %5, %o19_buffer : tensor<4x16xf32>, memref<4x16xf32>
    // a sum that the product needs
    %j32 = load %j32_buffer : memref<2x4x16xf32> -> tensor<2x4x16xf32>
    %6 = nn.sum %j32 : tensor<2x4x16xf32> -> tensor<16xf32> in "h.0.fc" weight_grad
    %h32 = load %h32_buffer : memref<2x4x16xf32> -> tensor<2x4x16xf32>
    %7 = nn.add %h32, %6 : tensor<2x4x16xf32>, tensor<16xf32> -> tensor<2x4x16xf32> in "h.0.fc" weight_grad
    %8 = nn.matmul %7, %j32 "b s h, b s f -> h f" : tensor<2x4x16xf32>, tensor<2x4x16xf32> -> tensor<16x16xf32> in "h.0.fc" weight_grad
    store %8, %square_buffer : tensor<16x16xf32>, memref<16x16xf32>
    // a sum that something else needs before the product
    %j = load %j_buffer : memref<2x4x16xbf16> -> tensor<2x4x16xbf16>
    %9 = nn.sum %j : tensor<2x4x16xbf16> -> tensor<16xf32> in "h.0.fc" weight_grad
    %10 = nn.gelu %9 : tensor<16xf32> -> tensor<16xf32> in "h.0.fc" weight_grad
    store %10, %early_buffer : tensor<16xf32>, memref<16xf32>
    %11 = nn.matmul %x, %j "b s h, b s f -> h f" : tensor<2x4x8xbf16>, tensor<2x4x16xbf16> -> tensor<8x16xf32> in "h.0.fc" weight_grad
    store %11, %late_buffer : tensor<8x16xf32>, memref<8x16xf32>
  }
}
