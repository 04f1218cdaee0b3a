// What is made again under a split backward: weight gradients read the norm's and gelu's results, backward reads what comes before gelu.
// All follow from the layer's input, so that alone lies in the slot: both bodies make the way to it, and gelu, which backward does not
// need, runs once.
// DEFINE: %{step} = hocket-opt %s --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-recompute --dist-to-step
// RUN: %{step} | hocket-opt --verify-roundtrip | FileCheck %s
// RUN: %{step} --codegen-fuse --step-overlap --step-plan-memory --step-verify-program -o /dev/null
// Under 1f1b there is one body for both, and nothing is made twice.
// RUN: sed 's/schedule "zb-h1"/schedule "1f1b"/' %s > %t.mlir
// RUN: hocket-opt %t.mlir --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-recompute --dist-to-step | grep recompute | FileCheck %s --check-prefix ONCE
// Logits that are larger than what weight gradients read fill the last stage's slot until its backward begins: what is made again then
// lies where they have been, and making it twice would save nothing. The first stage has no logits.
// RUN: sed 's/"head" : tensor<4x4xf32>/"head" : tensor<4x64xf32>/; /%head :/{s/tensor<4x4xf32>/tensor<4x64xf32>/;s/-> tensor<?x2x4xf32>/-> tensor<?x2x64xf32>/}; s/%next : tensor<?x2x4xf32>/%next : tensor<?x2x64xf32>/' %s > %t.mlir
// RUN: hocket-opt %t.mlir --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-recompute --dist-to-step | FileCheck %s --check-prefix LOGITS
nn.block @layer(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %g = param "ln.weight" : tensor<4xf32> init ones
  %fc = param "fc.weight" : tensor<4x16xf32> init normal(0.02)
  %proj = param "proj.weight" : tensor<16x4xf32> init normal(0.02)
  %n = rms_norm %x, %g : tensor<?x2x4xf32>, tensor<4xf32>
  %f = linear %n, %fc : tensor<?x2x4xf32>, tensor<4x16xf32> -> tensor<?x2x16xf32>
  %a = gelu %f : tensor<?x2x16xf32>
  %p = linear %a, %proj : tensor<?x2x16xf32>, tensor<16x4xf32> -> tensor<?x2x4xf32>
  %y = add %x, %p : tensor<?x2x4xf32>, tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %head = param "head" : tensor<4x4xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %y = repeat @layer(%x) 2 as "h" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %logits = linear %y, %head : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 4 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(1.0e-3)
}
dist.mesh @line<"pp"=2>
dist.plan @two for @m on @line {
  batch microbatch 2 sequences
  stages over "pp" schedule "zb-h1"
  recompute "h.*" full
}

// CHECK-LABEL: step.program @train_stage0
// CHECK-NOT: buffer activation "h0_ln{{[."]}}
// CHECK-NOT: buffer activation "h0_fc"
// CHECK-NOT: buffer activation "h0_gelu"
// CHECK: body forward
// CHECK: store %{{.*}}, %[[X:wte.2]] :
// CHECK: body backward
// CHECK: %[[XB:.*]] = load %[[X]]
// CHECK: %[[NB:.*]] = nn.rms_norm %[[XB]], {{.*}} in "h.0.ln" recompute
// CHECK: %[[FB:.*]] = nn.linear %[[NB]], {{.*}} in "h.0.fc" recompute
// CHECK: nn.elementwise "gelu_grad" %{{.*}}, %[[FB]]
// CHECK-NOT: recompute
// CHECK: body weight_grad
// CHECK: %[[XW:.*]] = load %[[X]]
// CHECK: %[[NW:.*]] = nn.rms_norm %[[XW]], {{.*}} in "h.0.ln" recompute
// CHECK: %[[FW:.*]] = nn.linear %[[NW]], {{.*}} in "h.0.fc" recompute
// CHECK: %[[AW:.*]] = nn.gelu %[[FW]] {{.*}} in "h.0" recompute
// CHECK: nn.matmul %[[AW]], {{.*}} in "h.0.proj" weight_grad
// CHECK: nn.matmul %[[NW]], {{.*}} in "h.0.fc" weight_grad
// CHECK: body update

// Of each of two layers the norm, the product and gelu once; the last sum of a layer is kept or nobody's.
// ONCE-COUNT-6: recompute
// ONCE-NOT: recompute{{$}}

// LOGITS-LABEL: step.program @train_stage0
// LOGITS: body weight_grad
// LOGITS: in "h.0.fc" recompute
// LOGITS: in "h.0" recompute
// LOGITS: body update
// LOGITS-LABEL: step.program @train_stage1
// LOGITS: buffer activation "h1_gelu{{[^"]*}}" in slot
// LOGITS: body backward
// LOGITS: in "h.1.fc" recompute
// LOGITS: in "h.1" recompute
// LOGITS: body weight_grad
// LOGITS-NOT: recompute
// LOGITS: body update
