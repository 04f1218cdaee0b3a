// What the options ask for against what the module holds.
// RUN: hocket-opt %s --nn-build-training-step="microbatches=4" --verify-diagnostics --split-input-file

nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %x, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  // expected-error-re @+1 {{{{^}}batch 6 is not divisible by 4 microbatches; nearest: 4 and 8{{$}}}}
  batch 6 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
}

// -----

// expected-error-re @below {{{{^}}no recipe is given; a model is trained by one{{$}}}}
module {}

// -----

// expected-error-re @below {{{{^}}several recipes and none is chosen: @slow, @fast{{$}}}}
module {
  nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
    %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
    %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
    %sum, %count = cross_entropy %x, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
    return %sum, %count : tensor<f32>, tensor<i64>
  }
  nn.recipe @slow for @m {
    batch 4 sequences
    optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
    learning_rate cosine(peak = 1.0e-4, warmup = 20, decay = 1000, floor = 1.0e-5)
  }
  nn.recipe @fast for @m {
    batch 4 sequences
    optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
    learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  }
}

// -----

// expected-error-re @+1 {{{{^}}@train is taken; the training step needs the name{{$}}}}
nn.model @train(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %x, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @train {
  batch 4 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
}
