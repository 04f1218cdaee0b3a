// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// What each region may write.

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
  %0 = arith.constant dense<1.0> : tensor<f32>
  // CHECK: write value "scale", %cst : tensor<f32>{{$}}
  write value "scale", %0 : tensor<f32>
} microbatch {
  %0 = read accumulator "w" : tensor<8xf32>
  // CHECK: write accumulator "w", %w.acc : tensor<8xf32> in "h.0" weight_grad{{$}}
  write accumulator "w", %0 : tensor<8xf32> in "h.0" weight_grad
} update {
  %0 = read accumulator "w" : tensor<8xf32>
  // CHECK: write param "w", %w.acc : tensor<8xf32>{{$}}
  write param "w", %0 : tensor<8xf32>
  // CHECK-NEXT: write first_moment "w", %w.acc : tensor<8xf32>{{$}}
  write first_moment "w", %0 : tensor<8xf32>
  // CHECK-NEXT: write second_moment "w", %w.acc : tensor<8xf32>{{$}}
  write second_moment "w", %0 : tensor<8xf32>
} evaluate {
  %0 = read value "scale" : tensor<f32>
  // CHECK: write output "loss", %scale : tensor<f32>{{$}}
  write output "loss", %0 : tensor<f32>
}
