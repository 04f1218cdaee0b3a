// Gathers of parameters that are loaded go together where the first stands. What is loaded is loaded earlier for it; the buffers, which
// stand outside of bodies and belong to all of them, stay where they are.
// RUN: hocket-opt --pass-pipeline="builtin.module(nn-inline-blocks,nn-build-training-step{rows=2 microbatches=1 plan=plan},nn-decompose-loss,dist-apply-plan{whole-below=0},dist-propagate-shardings,dist-partition,dist-verify-partition,dist-to-step)" %s | hocket-opt --verify-roundtrip | FileCheck %s

nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x2xf32> init normal(0.02)
  %g = param "norm.weight" : tensor<2xf32> init ones
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x2xf32> -> tensor<?x2x2xf32>
  %n = rms_norm %x, %g : tensor<?x2x2xf32>, tensor<2xf32> -> tensor<?x2x2xf32>
  %w = param "head" : tensor<2x4xf32> init normal(0.02)
  %logits = linear %n, %w : tensor<?x2x2xf32>, tensor<2x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 2 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
dist.mesh @mesh<"dp"=2>
dist.plan @plan for @m on @mesh {
  batch over "dp" microbatch 1 sequences
  zero 3 over "dp" gather per_use
}
// CHECK: step.program
// CHECK-DAG: buffer parameter "wte"
// CHECK-DAG: buffer parameter "norm.weight"
// CHECK-DAG: buffer parameter "head"
// CHECK: body forward {
// CHECK-NOT: buffer parameter
// CHECK: load %wte
// CHECK-NEXT: {{.*}}load %norm.weight
// CHECK-NEXT: {{.*}}load %head
// CHECK-COUNT-3: place
// CHECK: collective all_gather {{.*}} over "dp"
// CHECK-NOT: collective all_gather
// CHECK: body backward {
