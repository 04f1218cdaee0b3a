// A loss scale is state; the seed of the backward has it, the clip scale takes it off, and an overflow leaves all as it was.
// RUN: hocket-opt --nn-inline-blocks --nn-build-training-step="rows=2 microbatches=3" %s | hocket-opt --verify-roundtrip | FileCheck %s
// RUN: sed 's/loss_scale dynamic.*/loss_scale static(1024)/' %s | hocket-opt --nn-inline-blocks --nn-build-training-step="rows=2 microbatches=3" | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=STATIC

nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %x, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 6 sequences
  precision params f16 compute f16 accumulate f32 master f32
  loss_scale dynamic(initial = 1024, interval = 100, hysteresis = 3)
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(1.0e-3)
  clip 0.5
}

// CHECK: slot state "loss_scale" : tensor<f32> init constant(1024.0)
// CHECK-NEXT: slot state "good_steps" : tensor<f32> init constant(0.0)
// CHECK-NEXT: slot state "hysteresis" : tensor<f32> init constant(3.0)
// CHECK-NEXT: slot state "updates" : tensor<i64> init zeros
// CHECK-NEXT: slot value "seed" : tensor<f32>
// CHECK-NEXT: slot output "loss_scale" : tensor<f32>
// CHECK-NEXT: slot output "skipped" : tensor<f32>
// CHECK-NEXT: slot output "exhausted" : tensor<f32>
// CHECK: } begin {
// CHECK: %[[SCALE:.*]] = read state "loss_scale" : tensor<f32>
// CHECK-NEXT: %[[SEED:.*]] = mul %inverse_count, %[[SCALE]] : tensor<f32>, tensor<f32> -> tensor<f32>
// CHECK-NEXT: write value "seed", %[[SEED]] : tensor<f32>
// CHECK: } microbatch {
// CHECK: %[[SEED:.*]] = read value "seed" : tensor<f32> in "wte" backward
// CHECK-NEXT: cross_entropy_grad %[[SEED]],
// CHECK: } update {
// CHECK: %[[NORM:.*]] = elementwise "grad_norm"
// CHECK: %[[OVERFLOW:.*]] = elementwise "overflow" %[[NORM]]
// CHECK-NEXT: ^bb0(%[[N:.*]]: f32):
// CHECK-NEXT: %[[INF:.*]] = arith.constant 0x7F800000 : f32
// CHECK-NEXT: arith.cmpf uge, %[[N]], %[[INF]] : f32
// CHECK: %[[UPDATES:.*]] = read state "updates" : tensor<i64>
// CHECK-NEXT: %[[NUMBER:.*]] = add %[[UPDATES]], %one
// CHECK-NEXT: %[[APPLIED:.*]] = elementwise "applied_updates" %[[OVERFLOW]], %[[UPDATES]], %[[NUMBER]]
// CHECK: write state "updates", %[[APPLIED]] : tensor<i64>
// CHECK: %[[SCALE:.*]] = read state "loss_scale" : tensor<f32>
// CHECK-NEXT: write output "loss_scale", %[[SCALE]] : tensor<f32>
// CHECK-NEXT: write output "skipped", %[[OVERFLOW]] : tensor<f32>
// CHECK: = elementwise "loss_scale_rule" %[[SCALE]], %good_steps, %hysteresis, %[[OVERFLOW]]
// CHECK: write state "loss_scale"
// CHECK-NEXT: write state "good_steps"
// CHECK-NEXT: write state "hysteresis"
// CHECK-NEXT: write output "exhausted"
// CHECK: %[[UNSCALED:.*]] = elementwise "unscaled_norm" %[[NORM]], %[[SCALE]]
// CHECK: %[[CLIP:.*]] = elementwise "clip_scale" %[[UNSCALED]], %[[SCALE]]
// CHECK: cosine_rate %[[NUMBER]]
// CHECK: adamw {{.*}} clip %[[CLIP]] step %[[NUMBER]] unless %[[OVERFLOW]](
// CHECK: write output "grad_norm", %[[UNSCALED]]

// STATIC: slot state "loss_scale" : tensor<f32> init constant(1024.0)
// STATIC-NEXT: slot state "updates" : tensor<i64> init zeros
// STATIC: } update {
// STATIC-NOT: write state "loss_scale"
// STATIC: adamw {{.*}} unless %overflow(
