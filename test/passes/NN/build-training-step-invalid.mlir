// RUN: hocket-opt %s --nn-build-training-step="rows=2 microbatches=3" --verify-diagnostics --split-input-file

// expected-error-re @+1 {{{{^}}argument 'next' of @m holds 4 sequences, a microbatch has 2; write ? for the batch{{$}}}}
nn.model @m(%tokens: tensor<4x2xi32>, %next: tensor<4x2xi32>) -> (tensor<f32>, tensor<i64>) { // expected-error-re {{{{^}}argument 'tokens' of @m holds 4 sequences, a microbatch has 2; write ? for the batch{{$}}}}
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<4x2xi32>, tensor<4x4xf32> -> tensor<4x2x4xf32>
  %sum, %count = cross_entropy %x, %next : tensor<4x2x4xf32>, tensor<4x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  // expected-error-re @+1 {{{{^}}batch 8 is not 3 microbatches of 2 sequences = 6{{$}}}}
  batch 8 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
}

// -----

nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  // expected-error-re @+1 {{{{^}}'nn.row_max' op has no derivative, and a gradient must pass through it to a parameter{{$}}}}
  %max = row_max %x : tensor<?x2x4xf32> -> tensor<?x2xf32>
  %sum = sum %max : tensor<?x2xf32> -> tensor<f32>
  %count = count_tokens %next : tensor<?x2xi32> -> tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 6 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
}

// -----

nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  // expected-error-re @+1 {{{{^}}no gradient reaches parameter 'spare'; freeze it by a group of the recipe{{$}}}}
  %spare = param "spare" : tensor<4xf32> init ones
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %x, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 6 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
}

// -----

// expected-error-re @+1 {{{{^}}an argument of @m is named 'draws', which the training step needs for an input of its own{{$}}}}
nn.model @m(%draws: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init normal(0.02)
  %x = embedding %draws, %wte : tensor<?x2xi32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %x, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 6 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
}
