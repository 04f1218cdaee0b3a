// Types of the training step by the recipe: parameters at rest, what is computed in, accumulated in and reduced in.
// RUN: sed 's/PRECISION/params bf16 compute bf16 accumulate f32 reduce f32 master f32/' %s | hocket-opt --nn-inline-blocks --nn-verify-model --nn-build-training-step="rows=2 microbatches=3" | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=MASTER
// RUN: sed 's/PRECISION/params f32 compute bf16 accumulate f32 reduce bf16/' %s | hocket-opt --nn-inline-blocks --nn-verify-model --nn-build-training-step="rows=2 microbatches=3" | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=WIDE
// RUN: sed 's/PRECISION/params bf16 compute bf16 accumulate bf16 reduce f32/' %s | hocket-opt --nn-inline-blocks --nn-verify-model --nn-build-training-step="rows=2 microbatches=3" | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=NARROW
// RUN: sed 's/PRECISION/params f32 compute f32 accumulate f32 master f32/' %s | hocket-opt --nn-inline-blocks --nn-verify-model --nn-build-training-step="rows=2 microbatches=3" | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=PLAIN

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
  %t = param "temperature" : tensor<f32> init ones
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %y = repeat @layer(%x) 1 as "h" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %n = rms_norm %y, %g : tensor<?x2x4xf32>, tensor<4xf32> -> tensor<?x2x4xf32>
  %scaled = mul %n, %t : tensor<?x2x4xf32>, tensor<f32> -> tensor<?x2x4xf32>
  %logits = linear transposed %scaled, %wte : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  %half = elementwise "half" -> tensor<f32> {
    %c = arith.constant 0.3 : f32
    return %c : f32
  }
  %halved = mul %sum, %half : tensor<f32>, tensor<f32> -> tensor<f32>
  return %halved, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 6 sequences
  precision PRECISION
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  clip 0.5
  group "norm.*" frozen
}

// bf16 parameters, and f32 masters that start from the same numbers. No cast but that of the new master; gradients of parameters come
// out of the product in f32.
// MASTER-LABEL: nn.training_step
// MASTER: slot param "wte" : tensor<4x4xbf16> init normal(0.02)
// MASTER-NEXT: slot master "wte" : tensor<4x4xf32> init normal(0.02)
// MASTER-NEXT: slot first_moment "wte" : tensor<4x4xf32> init zeros
// MASTER: slot accumulator "wte#1" : tensor<4x4xf32>
// MASTER-NOT: slot value "wte"
// MASTER: } microbatch {
// MASTER-NOT: cast{{ }}
// MASTER: read param "wte" : tensor<4x4xbf16> in "wte#0" forward
// MASTER: linear {{.*}} : tensor<2x2x4xbf16>, tensor<4x4xbf16> -> tensor<2x2x4xbf16> in "h.0.fc" forward
// MASTER: cross_entropy {{.*}} : tensor<2x2x4xbf16>, tensor<2x2xi32> -> tensor<f32>, tensor<i64>, tensor<2x2xf32>
// MASTER: mul {{.*}} : tensor<f32>, tensor<f32> -> tensor<f32> in "wte#1" forward
// MASTER: matmul {{.*}} "b s v, b s h -> v h" : tensor<2x2x4xbf16>, tensor<2x2x4xbf16> -> tensor<4x4xf32> in "wte#1" weight_grad
// MASTER: rms_norm_grad {{.*}} -> tensor<2x2x4xbf16> in "norm" backward
// MASTER: sum {{.*}} : tensor<2x2x4xbf16> -> tensor<4xf32> in "h.0.fc" weight_grad
// MASTER: matmul {{.*}} "b s f, h f -> b s h" {{.*}} -> tensor<2x2x4xbf16> in "h.0.fc" backward
// MASTER: embedding_grad {{.*}} : tensor<2x2xi32>, tensor<2x2x4xbf16> -> tensor<4x4xf32>
// MASTER: } update {
// MASTER: %[[GRADIENT:.*]] = add {{.*}} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32> in "wte"
// MASTER-NOT: cast{{ }}
// MASTER: %[[OLD:.*]] = read master "wte" : tensor<4x4xf32>
// MASTER: %[[NEW:.*]], %{{.*}}, %{{.*}} = adamw %[[OLD]], %[[GRADIENT]],
// MASTER-NEXT: write master "wte", %[[NEW]]
// MASTER-NEXT: %[[ROUNDED:.*]] = cast %[[NEW]] : tensor<4x4xf32> -> tensor<4x4xbf16> in "wte"
// MASTER-NEXT: write param "wte", %[[ROUNDED]] : tensor<4x4xbf16>

// f32 parameters are cast once a step, the frozen one too; one without dimensions where it is used. Gradients are rounded, summed
// over ranks, and widened again.
// WIDE-LABEL: nn.training_step
// WIDE: slot param "wte" : tensor<4x4xf32> init normal(0.02)
// WIDE-NEXT: slot first_moment "wte"
// WIDE: slot value "wte" : tensor<4x4xbf16>
// WIDE-NEXT: slot value "norm.weight" : tensor<4xbf16>
// WIDE-NEXT: slot value "h.0.fc.weight" : tensor<4x4xbf16>
// WIDE: } begin {
// WIDE: %[[STORED:.*]] = read param "wte" : tensor<4x4xf32> in "wte"
// WIDE-NEXT: %[[CAST:.*]] = cast %[[STORED]] : tensor<4x4xf32> -> tensor<4x4xbf16> in "wte"
// WIDE-NEXT: write value "wte", %[[CAST]] : tensor<4x4xbf16> in "wte"
// WIDE: } microbatch {
// WIDE: read value "wte" : tensor<4x4xbf16> in "wte#0" forward
// WIDE: %[[NUMBER:.*]] = read param "temperature" : tensor<f32>
// WIDE-NEXT: cast %[[NUMBER]] : tensor<f32> -> tensor<bf16> in "temperature" forward
// WIDE: read value "wte" : tensor<4x4xbf16> in "wte#1" forward
// WIDE: } update {
// WIDE: %[[SUM:.*]] = add {{.*}} : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32> in "wte"
// WIDE-NEXT: %[[SUMMAND:.*]] = cast summands %[[SUM]] : tensor<4x4xf32> -> tensor<4x4xbf16> in "wte"
// WIDE-NEXT: %[[GRADIENT:.*]] = cast %[[SUMMAND]] : tensor<4x4xbf16> -> tensor<4x4xf32> in "wte"
// WIDE: square_sum %[[GRADIENT]]
// WIDE: %[[OLD:.*]] = read param "wte" : tensor<4x4xf32>
// WIDE: %[[NEW:.*]], %{{.*}}, %{{.*}} = adamw %[[OLD]], %[[GRADIENT]],
// WIDE-NEXT: write param "wte", %[[NEW]] : tensor<4x4xf32>

// bf16 throughout but for what is summed over ranks, the norm and the optimizer.
// NARROW-LABEL: nn.training_step
// NARROW: slot accumulator "wte#0" : tensor<4x4xbf16>
// NARROW: } microbatch {
// NARROW: matmul {{.*}} "b s v, b s h -> v h" : {{.*}} -> tensor<4x4xbf16> in "wte#1" weight_grad
// NARROW: } update {
// NARROW: %[[SUM:.*]] = add {{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16> -> tensor<4x4xbf16> in "wte"
// NARROW-NEXT: %[[GRADIENT:.*]] = cast summands %[[SUM]] : tensor<4x4xbf16> -> tensor<4x4xf32> in "wte"
// NARROW-NOT: cast %
// NARROW: %[[PARAM:.*]] = read param "wte" : tensor<4x4xbf16>
// NARROW-NEXT: %[[OLD:.*]] = cast %[[PARAM]] : tensor<4x4xbf16> -> tensor<4x4xf32> in "wte"
// NARROW: %[[NEW:.*]], %{{.*}}, %{{.*}} = adamw %[[OLD]], %[[GRADIENT]],
// NARROW-NEXT: %[[ROUNDED:.*]] = cast %[[NEW]] : tensor<4x4xf32> -> tensor<4x4xbf16> in "wte"
// NARROW-NEXT: write param "wte", %[[ROUNDED]] : tensor<4x4xbf16>

// A master that would be the parameter once more is none.
// PLAIN-LABEL: nn.training_step
// PLAIN-NOT: slot master
// PLAIN-NOT: cast
