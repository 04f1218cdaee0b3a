// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
// CHECK-LABEL: nn.recipe @r1 for
nn.recipe @r1 for @gpt {
  // CHECK: {{^}}    precision params f32 compute f32 accumulate f32{{$}}
  precision params f32 compute f32 accumulate f32
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
// CHECK-LABEL: nn.recipe @r2 for
nn.recipe @r2 for @gpt {
  // CHECK: {{^}}    precision params bf16 compute bf16 accumulate f32 reduce f32 master f32{{$}}
  precision params bf16 compute bf16 accumulate f32 reduce f32 master f32
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
// CHECK-LABEL: nn.recipe @r3 for
nn.recipe @r3 for @gpt {
  // CHECK: {{^}}    precision params f16 compute f16 accumulate f32 master f32{{$}}
  precision params f16 compute f16 accumulate f32 master f32
  loss_scale dynamic
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
// CHECK-LABEL: nn.recipe @r4 for
nn.recipe @r4 for @gpt {
  // CHECK: {{^}}    precision params f32 compute bf16 accumulate bf16 reduce f32{{$}}
  precision params f32 compute bf16 accumulate bf16 reduce f32
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
