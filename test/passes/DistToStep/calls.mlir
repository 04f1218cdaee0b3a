// RUN: hocket-opt %s --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-to-step | hocket-opt --verify-roundtrip | FileCheck %s
// RUN: hocket-opt %s --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-to-step --codegen-fuse --step-plan-memory --step-verify-program -o /dev/null

// Calls and repeats name layers; stages cut them in the order of the model, longer stages first.
nn.block @layer(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %w = param "fc.weight" : tensor<4x4xf32> init normal(0.02)
  %h = linear %x, %w : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %y = add %x, %h : tensor<?x2x4xf32>, tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %y0 = call @layer(%x) as "enc.0" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %y = repeat @layer(%y0) 2 as "dec" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %logits = linear transposed %y, %wte : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
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

// CHECK: step.job {{.*}} layers ["enc.0", "dec.0", "dec.1"]
// CHECK: step.program @train_stage0 under @two stage 0 computes ["wte", "enc.0", "dec.0"]
// CHECK: because "stages are cut between dec.0 and dec.1"
// CHECK: step.program @train_stage1 under @two stage 1 computes ["dec.1", "wte"]
