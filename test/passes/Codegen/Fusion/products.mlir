// RUN: hocket-opt %s --codegen-fuse | FileCheck %s
// Shapes, transposes and leading dimensions of products, from the rule.

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
step.program @s0 under @p stage 0 computes ["h.0"] microbatches 1 {
  %a_buffer = buffer activation "a" in slot : memref<2x4x3x5xf32>
  %w_buffer = buffer parameter "w" in arena : memref<3x5x7xf32>
  %h_buffer = buffer activation "h" in slot : memref<2x4x7xf32>
  %t_buffer = buffer parameter "t" in arena : memref<9x7xf32>
  %c_buffer = buffer activation "c" in slot : memref<2x6x7xf32>
  %y0 = buffer activation "y0" in slot : memref<2x4x7xf32>
  %y1 = buffer activation "y1" in slot : memref<2x4x9xf32>
  %y2 = buffer activation "y2" in slot : memref<2x4x3x5xf32>
  %y3 = buffer activation "y3" in slot : memref<3x5x7xf32>
  %y4 = buffer activation "y4" in slot : memref<7x3x5xf32>
  %y5 = buffer activation "y5" in slot : memref<2x4x6xf32>
  // CHECK: body forward {
  body forward {
    %a = load %a_buffer : memref<2x4x3x5xf32> -> tensor<2x4x3x5xf32>
    %w = load %w_buffer : memref<3x5x7xf32> -> tensor<3x5x7xf32>
    %h = load %h_buffer : memref<2x4x7xf32> -> tensor<2x4x7xf32>
    %t = load %t_buffer : memref<9x7xf32> -> tensor<9x7xf32>
    %c = load %c_buffer : memref<2x6x7xf32> -> tensor<2x6x7xf32>
    // two dimensions contracted are one
    // CHECK: gemm %{{.+}}, %{{.+}} mnk [8, 7, 15] leading [15, 7, 7] : tensor<2x4x3x5xf32>, tensor<3x5x7xf32> -> (tensor<2x4x7xf32>)
    %0 = nn.linear %a, %w : tensor<2x4x3x5xf32>, tensor<3x5x7xf32> -> tensor<2x4x7xf32>
    store %0, %y0 : tensor<2x4x7xf32>, memref<2x4x7xf32>
    // a tied head
    // CHECK: gemm %{{.+}}, transpose_b %{{.+}} mnk [8, 9, 7] leading [7, 7, 9] : tensor<2x4x7xf32>, tensor<9x7xf32> -> (tensor<2x4x9xf32>)
    %1 = nn.linear transposed %h, %t : tensor<2x4x7xf32>, tensor<9x7xf32> -> tensor<2x4x9xf32>
    store %1, %y1 : tensor<2x4x9xf32>, memref<2x4x9xf32>
    // the input's gradient: w read the other way around
    // CHECK: gemm %{{.+}}, transpose_b %{{.+}} mnk [8, 15, 7] leading [7, 7, 15]
    %2 = nn.matmul %h, %w "b s h, n d h -> b s n d" : tensor<2x4x7xf32>, tensor<3x5x7xf32> -> tensor<2x4x3x5xf32>
    store %2, %y2 : tensor<2x4x3x5xf32>, memref<2x4x3x5xf32>
    // the weight's gradient
    // CHECK: gemm transpose_a %{{.+}}, %{{.+}} mnk [15, 7, 8] leading [15, 7, 7]
    %3 = nn.matmul %a, %h "b s n d, b s h -> n d h" : tensor<2x4x3x5xf32>, tensor<2x4x7xf32> -> tensor<3x5x7xf32>
    store %3, %y3 : tensor<3x5x7xf32>, memref<3x5x7xf32>
    // the result is stored the other way around: operands change places
    // CHECK: gemm transpose_a %{{.+}}, %{{.+}} mnk [7, 15, 8] leading [7, 15, 15] : tensor<2x4x7xf32>, tensor<2x4x3x5xf32> -> (tensor<7x3x5xf32>)
    %4 = nn.matmul %a, %h "b s n d, b s h -> h n d" : tensor<2x4x3x5xf32>, tensor<2x4x7xf32> -> tensor<7x3x5xf32>
    store %4, %y4 : tensor<7x3x5xf32>, memref<7x3x5xf32>
    // a batch
    // CHECK: gemm %{{.+}}, transpose_b %{{.+}} mnk [4, 6, 7] leading [7, 7, 6] batch 2 strides [28, 42, 24]
    %5 = nn.matmul %h, %c "b s h, b t h -> b s t" : tensor<2x4x7xf32>, tensor<2x6x7xf32> -> tensor<2x4x6xf32>
    store %5, %y5 : tensor<2x4x6xf32>, memref<2x4x6xf32>
  }
}
