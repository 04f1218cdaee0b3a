// RUN: hocket-opt %s --codegen-fuse --codegen-group-launches | FileCheck %s
// RUN: hocket-opt %s --codegen-fuse --codegen-group-launches | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=AGAIN
// Kernels of an update that are made of the same ops share launches, whatever their sizes; what stands behind a
// collective begins anew, and kernels of other bodies stay as they are.

nn.model @m(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %x = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %x, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @two<"dp"=2>
dist.plan @p for @m on @two {
  batch over "dp" microbatch 2 sequences
}
// AGAIN: step.program @s0
step.program @s0 under @p stage 0 computes ["h.0"] microbatches 1 {
  %a_buffer = buffer accumulator "a" in arena : memref<8xf32>
  %b_buffer = buffer accumulator "b" in arena : memref<9xf32>
  %c_buffer = buffer accumulator "c" in arena : memref<8xf32>
  %s_buffer = buffer scalar "s" in arena : memref<f32>

  // CHECK: body forward {
  // CHECK: launch @[[SILU:k_silu_1x8_[0-9a-f]+]]
  // CHECK: launch @[[SILU9:k_silu_1x9_[0-9a-f]+]]
  body forward {
    %a = load %a_buffer : memref<8xf32> -> tensor<8xf32>
    %b = load %b_buffer : memref<9xf32> -> tensor<9xf32>
    %0 = nn.silu %a : tensor<8xf32> -> tensor<8xf32>
    %1 = nn.silu %b : tensor<9xf32> -> tensor<9xf32>
    store %0, %a_buffer : tensor<8xf32>, memref<8xf32>
    store %1, %b_buffer : tensor<9xf32>, memref<9xf32>
  }
  // CHECK: body update {
  // CHECK: %[[Q0:.+]], %[[Q1:.+]], %[[Q2:.+]] = launch @[[SQUARES:k_square_sum_of_3_[0-9a-f]+]](%[[A:.+]], %[[B:.+]], %[[C:.+]]) : (tensor<8xf32>, tensor<9xf32>, tensor<8xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) in "h"
  // CHECK: %[[G0:.+]], %[[G1:.+]] = launch @[[GELUS:k_gelu_of_2_[0-9a-f]+]](%[[A]], %[[B]])
  // CHECK: store %[[G0]], %a
  // CHECK: store %[[G1]], %b
  // CHECK: launch @{{k_stack_1x1_[0-9a-f]+}}(%[[Q0]], %[[Q1]], %[[Q2]])
  // CHECK: collective all_reduce
  // CHECK: launch @{{k_gelu_1x8_[0-9a-f]+}}
  body update {
    %a = load %a_buffer : memref<8xf32> -> tensor<8xf32>
    %b = load %b_buffer : memref<9xf32> -> tensor<9xf32>
    %c = load %c_buffer : memref<8xf32> -> tensor<8xf32>
    %0 = nn.square_sum %a : tensor<8xf32> -> tensor<f32> in "h.0"
    %1 = nn.gelu %a : tensor<8xf32> -> tensor<8xf32>
    store %1, %a_buffer : tensor<8xf32>, memref<8xf32>
    %2 = nn.square_sum %b : tensor<9xf32> -> tensor<f32> in "h.1"
    %3 = nn.gelu %b : tensor<9xf32> -> tensor<9xf32>
    store %3, %b_buffer : tensor<9xf32>, memref<9xf32>
    %4 = nn.square_sum %c : tensor<8xf32> -> tensor<f32> in "h.1"
    %5 = nn.stack %0, %2, %4 dim 0 : tensor<f32>, tensor<f32>, tensor<f32> -> tensor<3xf32>
    %6 = collective all_reduce sum %5 over "dp" because "norm" : tensor<3xf32> -> (tensor<3xf32>)
    %7 = nn.sum %6 : tensor<3xf32> -> tensor<f32>
    store %7, %s_buffer : tensor<f32>, memref<f32>
    %8 = nn.gelu %c : tensor<8xf32> -> tensor<8xf32>
    store %8, %c_buffer : tensor<8xf32>, memref<8xf32>
  }
}

// Kernels that no launch names any more are gone; a group says how many ops each part has, and what may be in place.
// CHECK-NOT: func.func private @k_square_sum_1x
// CHECK: func.func private @[[SQUARES]]({{.*}} attributes {hocket.parts = array<i64: 1, 1, 1>}
// CHECK-NEXT: nn.square_sum %arg0
// CHECK-NEXT: nn.square_sum %arg1
// CHECK-NEXT: nn.square_sum %arg2
// CHECK: func.func private @[[GELUS]]({{.*}} attributes {hocket.in_place = array<i64: 0, 0, 1, 1>, hocket.parts = array<i64: 1, 1>}
