// RUN: hocket-opt %s --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-to-step | hocket-opt --verify-roundtrip | FileCheck %s
// RUN: hocket-opt %s --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-to-step --codegen-fuse --step-plan-memory --step-verify-program -o /dev/null

// A value that the last stage uses too goes over the cut beside the other one, and its gradient comes back.
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
  %z0 = mul %x, %y : tensor<?x2x4xf32>, tensor<?x2x4xf32> -> tensor<?x2x4xf32>
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
// CHECK: message activation from 0 to 1 carries %wte_use0, %h1_add because
// CHECK: message gradient from 1 to 0 carries %h2_mul_grad, %h2_fc_add_grad because
// CHECK-LABEL: step.program @train_stage1
// CHECK: message gradient from 1 to 0 carries %h2_mul_grad, %h2_fc_add_grad because
// CHECK: message activation from 0 to 1 carries %wte_use0, %h1_add because
