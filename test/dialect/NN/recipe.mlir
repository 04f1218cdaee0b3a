// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
// CHECK-LABEL: nn.recipe @pretrain for @gpt {
nn.recipe @pretrain for @gpt {
  // CHECK-NEXT: batch 32 sequences
  batch 32 sequences
  // CHECK-NEXT: precision params f32 compute f32 accumulate f32
  precision params f32 compute f32 accumulate f32
  // CHECK-NEXT: optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  // CHECK-NEXT: learning_rate cosine(peak = 0.001, warmup = 20, decay = 1000, floor = 1.0e-4)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  // CHECK-NEXT: clip 1.0
  clip 1.0
  // CHECK-NEXT: seed 1234
  seed 1234
  // CHECK-NEXT: group "**.bias" weight_decay 0.0
  group "**.bias" weight_decay 0.0
}
// CHECK: nn.recipe @least for @gpt {
nn.recipe @least for @gpt {
  batch 1 sequences
  optimizer adamw(betas = [0.9, 0.999], weight_decay = 0.0)
  learning_rate constant(0.1)
}
