// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// What each region may read. CHECK-LABELs are the regions.

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  batch 8 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
nn.training_step @t of @gpt with @r microbatches 1 slots {
  slot param "w" : tensor<8xf32> init zeros
  slot first_moment "w" : tensor<8xf32>
  slot second_moment "w" : tensor<8xf32>
  slot accumulator "w" : tensor<8xf32>
  slot value "scale" : tensor<f32>
  slot input "labels" : tensor<2x4xi32>
  slot output "loss" : tensor<f32>
} begin {
  // CHECK-LABEL: begin {
  // CHECK-NEXT: %w = read param "w" : tensor<8xf32>{{$}}
  %0 = read param "w" : tensor<8xf32>
  // CHECK-NEXT: %labels = read input "labels" : tensor<1x2x4xi32>{{$}}
  %1 = read input "labels" : tensor<1x2x4xi32>
} microbatch {
  // CHECK-LABEL: microbatch {
  // CHECK-NEXT: %w = read param "w" : tensor<8xf32> in "h.0"{{$}}
  %0 = read param "w" : tensor<8xf32> in "h.0"
  // CHECK-NEXT: %w.acc = read accumulator "w" : tensor<8xf32> weight_grad{{$}}
  %1 = read accumulator "w" : tensor<8xf32> weight_grad
  // CHECK-NEXT: %scale = read value "scale" : tensor<f32> in "loss" backward{{$}}
  %2 = read value "scale" : tensor<f32> in "loss" backward
  // CHECK-NEXT: %labels = read input "labels" : tensor<2x4xi32> forward{{$}}
  %3 = read input "labels" : tensor<2x4xi32> forward
} update {
  // CHECK-LABEL: update {
  // CHECK-NEXT: %w.m = read first_moment "w" : tensor<8xf32>
  %0 = read first_moment "w" : tensor<8xf32>
  // CHECK-NEXT: %w.v = read second_moment "w" : tensor<8xf32>
  %1 = read second_moment "w" : tensor<8xf32>
} evaluate {
  // CHECK-LABEL: evaluate {
  // CHECK-NEXT: %w.acc = read accumulator "w" : tensor<4xf32>
  %0 = read accumulator "w" : tensor<4xf32>
}
