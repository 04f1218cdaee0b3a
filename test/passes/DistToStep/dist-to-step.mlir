// RUN: hocket-opt %s --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-to-step | hocket-opt --verify-roundtrip | FileCheck %s --implicit-check-not=training_step

// Three layers on two stages; embedding and head are one parameter, held by both.
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

// CHECK: step.job @train_job of @m with @r under @two rows 2 microbatches 2 sequence 2 vocabulary 4 parameters 64 stages 2 layers ["h.0", "h.1", "h.2"]

// CHECK-LABEL: step.program @train_stage0 under @two stage 0 computes ["wte", "h.0", "h.1"] microbatches 2 {
// CHECK-DAG: %wte = buffer parameter "wte" in arena state param init normal(0.02) : memref<4x4xf32>
// CHECK-DAG: %[[OUT:.*]] = buffer communication "h1_add" in slot : memref<2x2x4xf32>
// CHECK-DAG: %[[BACK:.*]] = buffer communication "[[BACKNAME:.*]]" in slot : memref<2x2x4xf32>
// CHECK-DAG: %wte.use0.acc = buffer accumulator "wte.use0.acc" in arena state accumulator : memref<4x4xf32>
// Sums start at zero.
// CHECK: body begin {
// CHECK-DAG: store %{{.*}}, %wte.use0.acc
// CHECK-DAG: store %{{.*}}, %h.0.fc.weight.acc
// CHECK-DAG: store %{{.*}}, %h.1.fc.weight.acc
// CHECK: body forward {
// CHECK: store %{{.*}}, %[[OUT]]
// CHECK: body backward {
// CHECK: load %[[BACK]]
// CHECK: store %{{.*}}, %wte.use0.acc
// The tied parameter's gradients are summed, then all stages know each other's part of the norm.
// CHECK: body update {
// CHECK: collective all_reduce sum %wte.use0.acc.value over "pp" because "parameter 'wte' is used by several stages"
// CHECK: %[[STACK:.*]] = nn.stack
// CHECK: collective all_reduce sum %[[STACK]] over "pp" because "each stage knows the loss and square sums of its own parameters"
// CHECK: store %{{.*}}, %wte
// CHECK-NOT: %h.2
// CHECK: body evaluate {
// CHECK: collective all_reduce sum %{{.*}} over "pp" because "one stage knows it, every rank reports it"
// CHECK: message activation from 0 to 1 carries %[[OUT]] because "stages are cut between h.1 and h.2"
// CHECK: message gradient from 1 to 0 carries %[[BACK]] because "gradients go back where stages are cut between h.1 and h.2"
// CHECK: schedule "train" <streams "compute", "send_next", "receive_next" messages activation from 0 to 1, gradient from 1 to 0 {
// CHECK-NEXT: compute: begin
// CHECK-NEXT: compute: forward microbatch 0 slot 0
// CHECK-NEXT: send_next: send activation to 1 microbatch 0 slot 0 after compute 2
// CHECK: compute: update
// An evaluation ends with the body that reduces the loss.
// CHECK: schedule "eval" <streams "compute", "send_next" messages activation from 0 to 1 {
// CHECK-NOT: backward
// CHECK: compute: evaluate

// CHECK-LABEL: step.program @train_stage1 under @two stage 1 computes ["h.2", "wte"] microbatches 2 {
// CHECK-DAG: %wte = buffer parameter "wte" in arena state param
// CHECK-DAG: %wte.use1.acc = buffer accumulator "wte.use1.acc"
// CHECK-DAG: buffer communication "h1_add" in slot
// CHECK: body update {
// CHECK: collective all_reduce sum %wte.use1.acc.value over "pp" because "parameter 'wte' is used by several stages"
// CHECK: collective all_reduce sum %{{.*}} over "pp" because "each stage knows the loss and square sums of its own parameters"
// CHECK: message gradient from 1 to 0 carries
// CHECK: message activation from 0 to 1 carries
