// RUN: hocket-opt %s --nn-inline-blocks --nn-build-training-step="plan=two rows=2 microbatches=2" --nn-decompose-loss --dist-to-step --verify-diagnostics --split-input-file

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
dist.mesh @line<"pp"=4>
dist.plan @two for @m on @line {
  batch microbatch 2 sequences
  // expected-error-re @+1 {{{{^}}stages 4 exceed layers 3; legal: 1..3{{$}}}}
  stages over "pp" schedule "1f1b"
}
