// RUN: hocket-opt --nn-inline-blocks --nn-build-training-step="rows=2 microbatches=3" %s | hocket-opt --verify-roundtrip | FileCheck %s

// Embedding and head are one parameter; a bias is shared by two ops of one block; a gain is frozen.
nn.block @layer(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %w = param "fc.weight" : tensor<4x4xf32> init normal(0.02)
  %b = param "fc.bias" : tensor<4xf32> init zeros
  %h = linear %x, %w : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %a = add %h, %b : tensor<?x2x4xf32>, tensor<4xf32> -> tensor<?x2x4xf32>
  %y = add %x, %a : tensor<?x2x4xf32>, tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %g = param "norm.weight" : tensor<4xf32> init ones
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %y = repeat @layer(%x) 1 as "h" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %n = rms_norm %y, %g : tensor<?x2x4xf32>, tensor<4xf32> -> tensor<?x2x4xf32>
  %logits = linear transposed %n, %wte : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 6 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  clip 0.5
  group "norm.*" frozen
  group "h.**" lr_scale 0.5
}

// CHECK-LABEL: nn.training_step @train of @m with @r microbatches 3 slots {
// CHECK-NEXT: slot input "tokens" : tensor<2x2xi32>
// CHECK-NEXT: slot input "next" : tensor<2x2xi32>
// CHECK-NEXT: slot input "next.all" : tensor<3x2x2xi32>
// CHECK-NEXT: slot input "step" : tensor<i64>
// CHECK-NEXT: slot param "wte" : tensor<4x4xf32> init normal(0.02)
// CHECK-NEXT: slot first_moment "wte" : tensor<4x4xf32> init zeros
// CHECK-NEXT: slot second_moment "wte" : tensor<4x4xf32> init zeros
// CHECK-NEXT: slot param "norm.weight" : tensor<4xf32> init ones
// CHECK-NEXT: slot param "h.0.fc.weight"
// CHECK:      slot param "h.0.fc.bias"
// CHECK:      slot accumulator "wte#0" : tensor<4x4xf32>
// CHECK-NEXT: slot accumulator "wte#1" : tensor<4x4xf32>
// CHECK-NEXT: slot accumulator "h.0.fc.weight" : tensor<4x4xf32>
// CHECK-NEXT: slot accumulator "h.0.fc.bias" : tensor<4xf32>
// CHECK-NEXT: slot accumulator "loss" : tensor<f32>
// CHECK-NEXT: slot value "inverse_count" : tensor<f32>
// CHECK-NEXT: slot value "count" : tensor<i64>
// CHECK-NEXT: slot output "loss"
// CHECK-NEXT: slot output "grad_norm"
// CHECK-NEXT: slot output "learning_rate"
// CHECK-NEXT: slot output "loss_sum"
// CHECK-NEXT: slot output "tokens"

// CHECK-LABEL: } begin {
// CHECK: %[[ALL:.*]] = read input "next.all"
// CHECK: %[[COUNT:.*]] = count_tokens %[[ALL]]
// CHECK: %[[INVERSE:.*]] = elementwise "inverse_count" %[[COUNT]]
// CHECK: write value "inverse_count", %[[INVERSE]]
// CHECK: write value "count", %[[COUNT]]

// Forward: the batch is fixed, every use reads for itself, the loss keeps its log-sum-exp.
// CHECK-LABEL: } microbatch {
// CHECK: %[[TABLE:.*]] = read param "wte" : tensor<4x4xf32> in "wte#0" forward
// CHECK: %[[X:.*]] = embedding %{{.*}}, %[[TABLE]] : tensor<2x2xi32>, tensor<4x4xf32> -> tensor<2x2x4xf32> in "wte#0" forward
// CHECK: %[[W:.*]] = read param "h.0.fc.weight"
// CHECK: linear %[[X]], %[[W]] : {{.*}} in "h.0.fc" forward
// CHECK: %[[Y:.*]] = add %[[X]], %{{.*}} in "h.0" forward
// CHECK: rms_norm %[[Y]]
// CHECK: %[[HEAD:.*]] = read param "wte" : tensor<4x4xf32> in "wte#1" forward
// CHECK: %[[SUM:.*]], %{{.*}}, %[[LSE:.*]] = cross_entropy {{.*}} -> tensor<f32>, tensor<i64>, tensor<2x2xf32> in "wte#1" forward
// CHECK: %[[LOSS:.*]] = read accumulator "loss"
// CHECK: %[[LOSSES:.*]] = add %[[LOSS]], %[[SUM]] : {{.*}} forward
// CHECK: write accumulator "loss", %[[LOSSES]] : tensor<f32> in "wte#1" forward
// Backward: what leads to earlier layers is backward, what ends in an accumulator is weight_grad.
// CHECK: %[[SEED:.*]] = read value "inverse_count" : tensor<f32> in "wte#1" backward
// CHECK: cross_entropy_grad %[[SEED]], %{{.*}}, %{{.*}}, %[[LSE]] : {{.*}} in "wte#1" backward
// CHECK: read accumulator "wte#1" : tensor<4x4xf32> in "wte#1" weight_grad
// CHECK: write accumulator "wte#1", %{{.*}} in "wte#1" weight_grad
// CHECK: %[[DY:.*]] = rms_norm_grad {{.*}} in "norm" backward
// CHECK-NOT: rms_norm_param_grad
// The residual: the later use (h.0's add) first, then the linear's.
// CHECK: %[[DX:.*]] = matmul %[[DY]], %[[W]] {{.*}} in "h.0.fc" backward
// CHECK: %[[DW:.*]] = matmul {{.*}} in "h.0.fc" weight_grad
// CHECK: %[[ACC:.*]] = read accumulator "h.0.fc.weight"
// CHECK: add %[[ACC]], %[[DW]] : {{.*}} weight_grad
// CHECK: write accumulator "h.0.fc.weight"
// CHECK: embedding_grad {{.*}} in "wte#0" weight_grad

// CHECK-LABEL: } update {
// CHECK: %[[USE0:.*]] = read accumulator "wte#0"
// CHECK: %[[USE1:.*]] = read accumulator "wte#1"
// CHECK: %[[GRAD:.*]] = add %[[USE0]], %[[USE1]] : {{.*}} in "wte"
// CHECK: %[[TOTAL:.*]] = read accumulator "loss"
// CHECK: %[[SQUARE:.*]] = square_sum %[[GRAD]]
// CHECK: %[[VECTOR:.*]] = stack %[[TOTAL]], %[[SQUARE]], %{{.*}}, %{{.*}} dim 0 : {{.*}} -> tensor<4xf32>
// CHECK: unstack %[[VECTOR]] dim 0
// CHECK: %[[NORM:.*]] = elementwise "grad_norm"
// CHECK: %[[SCALE:.*]] = elementwise "clip_scale" %[[NORM]]
// CHECK: constant 5.000000e-01
// CHECK: %[[STEP:.*]] = read input "step"
// CHECK: %[[RATE:.*]] = cosine_rate %[[STEP]] cosine(peak = 0.001, warmup = 20, decay = 1000, floor = 1.0e-4)
// Matrices decay, biases do not; groups scale the rate.
// CHECK: adamw %{{.*}}, %[[GRAD]], %{{.*}}, %{{.*}} rate %[[RATE]] clip %[[SCALE]] step %[[STEP]](betas = [0.9, 0.95], weight_decay = 0.1, lr_scale = 1.0) : {{.*}} in "wte"
// CHECK-NOT: write param "norm.weight"
// CHECK: adamw {{.*}} weight_decay = 0.1, lr_scale = 0.5) : {{.*}} in "h.0.fc"
// CHECK: adamw {{.*}} weight_decay = 0.0, lr_scale = 0.5) : {{.*}} in "h.0.fc"
// CHECK: write output "loss"
// CHECK: write output "grad_norm", %[[NORM]]
// CHECK: write output "learning_rate", %[[RATE]]
// CHECK: write output "tokens"
// CHECK-LABEL: } evaluate {
// CHECK: %[[SUM:.*]] = read accumulator "loss"
// CHECK: write output "loss_sum", %[[SUM]]
// CHECK: %[[COUNT:.*]] = read value "count"
// CHECK: write output "tokens", %[[COUNT]]
