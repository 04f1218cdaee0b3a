// RUN: hocket-opt --nn-pipeline="microbatches=1" %s | hocket-opt --verify-roundtrip | FileCheck %s

nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<5x7xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<5x7xf32> -> tensor<?x2x7xf32>
  %sum, %count = cross_entropy %x, %next : tensor<?x2x7xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 3 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
}

// CHECK-LABEL: } microbatch {
// CHECK: %[[LOGITS:.*]] = embedding
// CHECK: %[[NEXT:.*]] = read input "next"
// CHECK-NOT: = cross_entropy %
// CHECK: %[[MAX:.*]] = row_max %[[LOGITS]] : tensor<3x2x7xf32> -> tensor<3x2xf32> in "wte" forward
// CHECK: %[[SUMEXP:.*]] = row_sum_exp %[[LOGITS]], %[[MAX]]
// CHECK: %[[LSE:.*]] = elementwise "log_sum_exp" %[[MAX]], %[[SUMEXP]]
// CHECK: math.log
// CHECK: %[[PICKED:.*]] = pick %[[LOGITS]], %[[NEXT]]
// CHECK: %[[LOSSES:.*]] = elementwise "token_loss" %[[LSE]], %[[PICKED]], %[[NEXT]]
// CHECK: arith.select
// CHECK: %[[SUM:.*]] = sum %[[LOSSES]] : tensor<3x2xf32> -> tensor<f32> in "wte" forward
// CHECK: add %{{.*}}, %[[SUM]]
// CHECK: cross_entropy_grad %{{.*}}, %[[LOGITS]], %[[NEXT]], %[[LSE]]
