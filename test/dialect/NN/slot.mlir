// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

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
// CHECK-LABEL: nn.training_step
nn.training_step @t of @gpt with @r microbatches 1 slots {
  // CHECK-NEXT: slot param "a" : tensor<8x2xf32> init zeros{{$}}
  slot param "a" : tensor<8x2xf32> init zeros
  // CHECK-NEXT: slot first_moment "a" : tensor<8x2xf32>{{$}}
  slot first_moment "a" : tensor<8x2xf32>
  // CHECK-NEXT: slot second_moment "a" : tensor<8x2xf32> init constant(1.0){{$}}
  slot second_moment "a" : tensor<8x2xf32> init constant(1)
  // CHECK-NEXT: slot master "a" : tensor<8x2xf32> init normal(0.5){{$}}
  slot master "a" : tensor<8x2xf32> init normal(0.5)
  // CHECK-NEXT: slot state "a" : tensor<f32> init constant(65536.0){{$}}
  slot state "a" : tensor<f32> init constant(65536)
  // CHECK-NEXT: slot accumulator "a" : tensor<8x2xf32>{{$}}
  slot accumulator "a" : tensor<8x2xf32>
  // CHECK-NEXT: slot value "a" : tensor<i64>{{$}}
  slot value "a" : tensor<i64>
  // CHECK-NEXT: slot input "a" : tensor<2x4xi32>{{$}}
  slot input "a" : tensor<2x4xi32>
  // CHECK-NEXT: slot input "b" : tensor<2x4xi32> zigzag 2{{$}}
  slot input "b" : tensor<2x4xi32> zigzag 2
  // CHECK-NEXT: slot output "a" : tensor<f32>{{$}}
  slot output "a" : tensor<f32>
} begin {
} microbatch {
} update {
} evaluate {
}
