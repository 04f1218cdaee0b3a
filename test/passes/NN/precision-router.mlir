// A router computes in f32 whatever the recipe says. The gradient of its weight is f32 and goes to its accumulator so: nothing narrows
// it on the way, which would lose bits, and ask for the sum over ranks in every microbatch.
// RUN: hocket-opt --nn-inline-blocks --nn-verify-model --nn-build-training-step="rows=2 microbatches=3" %s | hocket-opt --verify-roundtrip | FileCheck %s

nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %gate = param "gate.weight" : tensor<4x2xf32> init normal(0.02)
  %pos = positions : tensor<?x2xi32>
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %l = router_logits %x, %gate : tensor<?x2x4xf32>, tensor<4x2xf32> -> tensor<?x2x2xf32>
  %w, %s, %t, %b = router %l at %pos top 1 : tensor<?x2x2xf32>, tensor<?x2xi32> -> tensor<?x2x1xf32>, tensor<?x2x1xi32>, tensor<?x2x1xi32>, tensor<?xf32>
  %d = dispatch %x by %s, %t : tensor<?x2x4xf32>, tensor<?x2x1xi32>, tensor<?x2x1xi32> -> tensor<2x?x1x4xf32>
  %c = combine %d by %s, %t weighted %w : tensor<2x?x1x4xf32>, tensor<?x2x1xi32>, tensor<?x2x1xi32>, tensor<?x2x1xf32> -> tensor<?x2x4xf32>
  %logits = linear transposed %c, %wte : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 6 sequences
  precision params bf16 compute bf16 accumulate f32 reduce f32 master f32
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
  capacity 1
}
// CHECK: } microbatch {
// CHECK: [[GRAD:%.+]] = matmul {{.*}} "b s h, b s e -> h e" : tensor<2x2x4xf32>, tensor<2x2x2xf32> -> tensor<4x2xf32> in "gate" {{backward|weight_grad}}
// CHECK: [[OLD:%.+]] = read accumulator "gate.weight" : tensor<4x2xf32>
// CHECK-NEXT: [[SUM:%.+]] = add [[OLD]], [[GRAD]] : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<4x2xf32> in "gate" weight_grad
// CHECK-NEXT: write accumulator "gate.weight", [[SUM]]
// CHECK: } update {
