// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
// CHECK-LABEL: nn.recipe @r1 for
nn.recipe @r1 for @gpt {
  // CHECK: {{^}}    learning_rate cosine(peak = 0.001, warmup = 20, decay = 1000, floor = 1.0e-4){{$}}
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}
// CHECK-LABEL: nn.recipe @r2 for
nn.recipe @r2 for @gpt {
  // CHECK: {{^}}    learning_rate cosine(peak = 6.0e-4, warmup = 0, decay = 9, floor = 0.0){{$}}
  learning_rate cosine(decay = 9, peak = 6e-4)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}
// CHECK-LABEL: nn.recipe @r3 for
nn.recipe @r3 for @gpt {
  // CHECK: {{^}}    learning_rate constant(0.001){{$}}
  learning_rate constant(1e-3)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}
// CHECK-LABEL: nn.recipe @r4 for
nn.recipe @r4 for @gpt {
  // CHECK: {{^}}    learning_rate constant(peak = 0.5, warmup = 7){{$}}
  learning_rate constant(peak = 0.5, warmup = 7)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}
// CHECK-LABEL: nn.recipe @r5 for
nn.recipe @r5 for @gpt {
  // CHECK: {{^}}    learning_rate constant(2.0){{$}}
  learning_rate constant(warmup = 0, peak = 2)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}
