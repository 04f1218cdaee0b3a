// RUN: hocket-opt %s --codegen-fuse --verify-diagnostics
// Every fault of a body is reported: products that no library call computes, ops that have no kernel.

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
  %a_buffer = buffer activation "a" in slot : memref<4x5x2xf32>
  %b_buffer = buffer activation "b" in slot : memref<4x6x2xf32>
  %y_buffer = buffer activation "y" in slot : memref<5x6x2xf32>
  body forward {
    %a = load %a_buffer : memref<4x5x2xf32> -> tensor<4x5x2xf32>
    %b = load %b_buffer : memref<4x6x2xf32> -> tensor<4x6x2xf32>
    // expected-error-re @below {{{{^}}'nn.matmul' op with rule 'h s b, h t b -> s t b' is no single matrix product: in each tensor the batch, the rows, the columns and the contracted dimensions must stand together, and the batch not last{{$}}}}
    %y = nn.matmul %a, %b "h s b, h t b -> s t b" : tensor<4x5x2xf32>, tensor<4x6x2xf32> -> tensor<5x6x2xf32>
    store %y, %y_buffer : tensor<5x6x2xf32>, memref<5x6x2xf32>
  }
  %x_buffer = buffer activation "x" in slot : memref<2x4x8xf32>
  %n_buffer = buffer input "n" in microbatch : memref<2x4xi32>
  %s_buffer = buffer scalar "s" in arena : memref<f32>
  body evaluate {
    %x = load %x_buffer : memref<2x4x8xf32> -> tensor<2x4x8xf32>
    %n = load %n_buffer : memref<2x4xi32> -> tensor<2x4xi32>
    // expected-error-re @below {{{{^}}'nn.cross_entropy' op has no kernel{{$}}}}
    %s, %c = nn.cross_entropy %x, %n : tensor<2x4x8xf32>, tensor<2x4xi32> -> tensor<f32>, tensor<i64>
    store %s, %s_buffer : tensor<f32>, memref<f32>
  }
}
