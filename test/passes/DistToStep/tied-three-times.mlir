// RUN: hocket-opt %s --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-to-step | hocket-opt --verify-roundtrip | FileCheck %s
// RUN: hocket-opt %s --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-to-step --codegen-fuse --step-plan-memory --step-verify-program -o /dev/null

// A parameter used once on the first stage and twice on the second: the sum of the first two uses joins the stages, the third is
// spread to the stage that holds the other copy, in the order of one stage: (use 0 + use 1) + use 2.
nn.block @layer(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %w = param "fc.weight" : tensor<4x4xf32> init normal(0.02)
  %h = linear %x, %w : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %y = add %x, %h : tensor<?x2x4xf32>, tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %y = repeat @layer(%x) 3 as "h" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %z0 = linear %y, %wte : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %logits = linear transposed %z0, %wte : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 4 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(1.0e-3)
  clip 1.0
}
dist.mesh @line<"pp"=2>
dist.plan @two for @m on @line {
  batch microbatch 2 sequences
  stages over "pp" schedule "1f1b"
}

// CHECK-LABEL: step.program @train_stage0
// CHECK: body update {
// CHECK: %[[FIRST:.*]] = collective all_reduce sum %wte.use0.acc.value over "pp" because "parameter 'wte' is used by several stages"
// CHECK: %[[ZEROS:.*]] = nn.elementwise "zeros"
// CHECK: %[[THIRD:.*]] = collective all_reduce sum %[[ZEROS]] over "pp" because "one stage knows it, others need it for their copy of a parameter"
// CHECK: %[[SUM:.*]] = nn.add %[[FIRST]], %[[THIRD]]
// CHECK: nn.adamw %wte.value, %[[SUM]]
// CHECK-LABEL: step.program @train_stage1
// CHECK: body update {
// CHECK: %[[FIRST:.*]] = collective all_reduce sum %wte.use1.acc.value over "pp" because "parameter 'wte' is used by several stages"
// CHECK: %[[THIRD:.*]] = collective all_reduce sum %wte.use2.acc.value over "pp" because "one stage knows it, others need it for their copy of a parameter"
// CHECK: %[[SUM:.*]] = nn.add %[[FIRST]], %[[THIRD]]
// CHECK: nn.adamw %wte.value, %[[SUM]]
