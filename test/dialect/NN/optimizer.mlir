// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
// CHECK-LABEL: nn.recipe @r1 for
nn.recipe @r1 for @gpt {
  // CHECK: {{^}}    optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1){{$}}
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  batch 32 sequences
  learning_rate constant(0.1)
}
// CHECK-LABEL: nn.recipe @r2 for
nn.recipe @r2 for @gpt {
  // CHECK: {{^}}    optimizer adamw(betas = [0.0, 0.999], eps = 1.0e-6, weight_decay = 0.0){{$}}
  optimizer adamw(weight_decay = 0, eps = 1e-6, betas = [0, 0.999])
  batch 32 sequences
  learning_rate constant(0.1)
}
// CHECK-LABEL: nn.recipe @r3 for
nn.recipe @r3 for @gpt {
  // CHECK: {{^}}    optimizer adamw(betas = [0.9, 0.95], weight_decay = 1.0){{$}}
  optimizer adamw(betas = [0.9, 0.95], eps = 1e-8, weight_decay = 1)
  batch 32 sequences
  learning_rate constant(0.1)
}
