// Two stages, a tied table. Each stage casts, in its own begin, the parameters that it computes with; each holds the numbers of the
// state and finds the next ones from the same norm.
// RUN: hocket-opt %s --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-to-step | hocket-opt --verify-roundtrip | FileCheck %s
// RUN: sed 's/^  precision .*/  precision params f16 compute f16 accumulate f32 master f32/' %s | hocket-opt --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-to-step | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=MASTER

nn.block @layer(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %w = param "fc.weight" : tensor<4x4xf32> init normal(0.02)
  %h = linear %x, %w : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %y = add %x, %h : tensor<?x2x4xf32>, tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %wpe = param "wpe" : tensor<2x4xf32> init normal(0.02)
  %pos = positions : tensor<?x2xi32>
  %t = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %p = embedding %pos, %wpe : tensor<?x2xi32>, tensor<2x4xf32> -> tensor<?x2x4xf32>
  %x = add %t, %p : tensor<?x2x4xf32>, tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %y = repeat @layer(%x) 2 as "h" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %logits = linear transposed %y, %wte : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 4 sequences
  precision params f32 compute f16 accumulate f32
  loss_scale dynamic
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(1.0e-3)
  clip 1.0
}
dist.mesh @line<"pp"=2>
dist.plan @two for @m on @line {
  batch microbatch 2 sequences
  stages over "pp" schedule "1f1b"
}

// The table of positions is looked up on the first stage, and is not made again where positions are.
// CHECK-LABEL: step.program @train_stage0
// CHECK-DAG: buffer parameter "wte" in arena state param init normal(0.02) : memref<4x4xf32>
// CHECK-DAG: buffer parameter "wte.compute" in arena state value : memref<4x4xf16>
// CHECK-DAG: buffer parameter "wpe.compute" in arena state value : memref<2x4xf16>
// CHECK-DAG: buffer parameter "h.0.fc.weight.compute" in arena state value : memref<4x4xf16>
// CHECK-DAG: buffer accumulator "wte.use0.acc" in arena state accumulator : memref<4x4xf32>
// CHECK-DAG: buffer scalar "loss_scale.state" in arena state state init constant(65536.0) : memref<f32>
// CHECK-DAG: buffer scalar "updates.state" in arena state state init zeros : memref<i64>
// CHECK: body begin {
// CHECK-DAG: store %wte_cast, %wte.compute : tensor<4x4xf16>, memref<4x4xf16>
// CHECK-DAG: store %wpe_cast, %wpe.compute : tensor<2x4xf16>, memref<2x4xf16>
// CHECK-DAG: store %h0_fc_cast, %h.0.fc.weight.compute : tensor<4x4xf16>, memref<4x4xf16>
// CHECK: body forward {
// CHECK: linear {{.*}} : tensor<2x2x4xf16>, tensor<4x4xf16> -> tensor<2x2x4xf16> in "h.0.fc" forward
// CHECK: body update {
// CHECK: collective all_reduce sum {{.*}} over "pp" because "parameter 'wte' is used by several stages" : tensor<4x4xf32>
// CHECK: collective all_reduce sum {{.*}} over "pp" because "each stage knows the loss and square sums of its own parameters"
// CHECK: elementwise "overflow"
// CHECK: elementwise "loss_scale_rule"
// CHECK: store {{.*}}, %loss_scale.state : tensor<f32>, memref<f32>
// CHECK: message activation from 0 to 1 carries {{.*}} : memref<2x2x4xf16>
// CHECK: message gradient from 1 to 0 carries {{.*}} : memref<2x2x4xf16>

// CHECK-LABEL: step.program @train_stage1
// CHECK-NOT: "wpe
// CHECK-NOT: "h.0.
// CHECK: body begin {
// CHECK-DAG: store %wte_cast, %wte.compute
// CHECK-DAG: store %h1_fc_cast, %h.1.fc.weight.compute
// CHECK: body forward {
// CHECK-NOT: embedding
// CHECK: body update {
// CHECK: elementwise "overflow"
// CHECK: store {{.*}}, %updates.state : tensor<i64>, memref<i64>

// MASTER-LABEL: step.program @train_stage0
// MASTER-DAG: buffer parameter "wte" in arena state param init normal(0.02) : memref<4x4xf16>
// MASTER-DAG: buffer optimizer_state "wte.master" in arena state master init normal(0.02) : memref<4x4xf32>
// MASTER-NOT: .compute
// MASTER: body update {
// MASTER: store %{{.*}}, %wte.master : tensor<4x4xf32>, memref<4x4xf32>
// MASTER-NEXT: %[[PARAM:.*]] = nn.cast %{{.*}} : tensor<4x4xf32> -> tensor<4x4xf16> in "wte"
// MASTER-NEXT: store %[[PARAM]], %wte : tensor<4x4xf16>, memref<4x4xf16>
// MASTER-LABEL: step.program @train_stage1
// MASTER: buffer optimizer_state "wte.master" in arena state master
