// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// Five regions; values name themselves by their slot.

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
// CHECK-LABEL: nn.training_step @train of @gpt with @r microbatches 4 slots {
nn.training_step @train of @gpt with @r microbatches 4 slots {
  // CHECK-NEXT: slot param "h.0.w" : tensor<8xf32> init normal(0.02)
  slot param "h.0.w" : tensor<8xf32> init normal(0.02)
  // CHECK-NEXT: slot first_moment "h.0.w" : tensor<8xf32>
  slot first_moment "h.0.w" : tensor<8xf32>
  // CHECK-NEXT: slot accumulator "h.0.w" : tensor<8xf32>
  slot accumulator "h.0.w" : tensor<8xf32>
  slot value "scale" : tensor<f32>
  slot input "labels" : tensor<2x4xi32>
  slot output "norm" : tensor<f32>
// CHECK-NEXT: slot value
// CHECK-NEXT: slot input
// CHECK-NEXT: slot output
// CHECK-NEXT: } begin {
} begin {
  // CHECK-NEXT: %labels = read input "labels" : tensor<4x2x4xi32>
  %l = read input "labels" : tensor<4x2x4xi32>
  %s = arith.constant dense<1.0> : tensor<f32>
  write value "scale", %s : tensor<f32>
// CHECK: } microbatch {
} microbatch {
  // CHECK-NEXT: %h.0.w = read param "h.0.w" : tensor<8xf32> in "h.0"
  %w = read param "h.0.w" : tensor<8xf32> in "h.0"
  // CHECK-NEXT: %h.0.w.acc = read accumulator "h.0.w" : tensor<8xf32> in "h.0" weight_grad
  %a = read accumulator "h.0.w" : tensor<8xf32> in "h.0" weight_grad
  // CHECK-NEXT: %h0_w_acc = add %h.0.w, %h.0.w.acc : {{.*}} in "h.0" weight_grad
  %n = add %w, %a : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> in "h.0" weight_grad
  // CHECK-NEXT: write accumulator "h.0.w", %h0_w_acc : tensor<8xf32> in "h.0" weight_grad
  write accumulator "h.0.w", %n : tensor<8xf32> in "h.0" weight_grad
// CHECK-NEXT: } update {
} update {
  // CHECK-NEXT: %h.0.w.m = read first_moment "h.0.w" : tensor<8xf32>
  %m = read first_moment "h.0.w" : tensor<8xf32>
  // A value may be a shard of its slot: element type and rank stay.
  // CHECK-NEXT: %h.0.w.acc = read accumulator "h.0.w" : tensor<4xf32>
  %a = read accumulator "h.0.w" : tensor<4xf32>
  write first_moment "h.0.w", %m : tensor<8xf32>
  write param "h.0.w", %a : tensor<4xf32>
// CHECK: } evaluate {
} evaluate {
  %s = read value "scale" : tensor<f32>
  write output "norm", %s : tensor<f32>
}

// CHECK: nn.training_step @empty of @gpt with @r under @plan microbatches 1 attributes {kept = true} slots {
// CHECK-NEXT: } begin {
// CHECK-NEXT: } microbatch {
// CHECK-NEXT: } update {
// CHECK-NEXT: } evaluate {
// CHECK-NEXT: }
nn.training_step @empty of @gpt with @r under @plan microbatches 1 attributes {kept = true} slots {
} begin {
} microbatch {
} update {
} evaluate {
}
