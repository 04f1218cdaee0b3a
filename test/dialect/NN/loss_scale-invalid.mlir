// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+5 {{{{^}}'nn.loss_scale' op growth is 1.0, expected above 1{{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.loss_scale' op backoff is 1.5, expected above 0 and below 1{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.loss_scale' op interval is 0, expected 1 to 16777215 steps{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.loss_scale' op hysteresis is 0, expected 1 to 16777215{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.loss_scale' op floor is 4.0, expected above 0 and at most 2.0{{$}}}}
  loss_scale dynamic(initial = 2, growth = 1, backoff = 1.5, interval = 0, hysteresis = 0, floor = 4)
  precision params f16 compute f16 accumulate f32 master f32
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}'nn.loss_scale' op scale is 0.0, expected above 0, and a float{{$}}}}
  loss_scale static(0)
  precision params f16 compute f16 accumulate f32 master f32
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}'nn.loss_scale' op scale is 1.0e300, expected above 0, and a float{{$}}}}
  loss_scale static(1e300)
  precision params f16 compute f16 accumulate f32 master f32
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.loss_scale' unknown loss scale 'fixed' (known: dynamic, static){{$}}}}
  loss_scale fixed(2)
  precision params f16 compute f16 accumulate f32 master f32
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.loss_scale' dynamic has no argument 'window' (known: initial, growth, backoff, interval, hysteresis, floor){{$}}}}
  loss_scale dynamic(window = 2)
  precision params f16 compute f16 accumulate f32 master f32
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.loss_scale' expected a number{{$}}}}
  loss_scale static(no)
  precision params f16 compute f16 accumulate f32 master f32
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-note-re @+1 {{{{^}}precision is set here{{$}}}}
  precision params bf16 compute bf16 accumulate f32 master f32
  // expected-error-re @+1 {{{{^}}'nn.loss_scale' op serves compute f16, but @r computes in bf16, which has the range of f32: a scale would do nothing{{$}}}}
  loss_scale dynamic
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}'nn.loss_scale' op serves compute f16, but @r computes in f32, which has the range of f32: a scale would do nothing{{$}}}}
  loss_scale static(8)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}'nn.precision' op compute f16 needs 'loss_scale', dynamic or static(NUMBER): gradients below 6e-8 would become 0{{$}}}}
  precision params f32 compute f16 accumulate f32
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

// expected-error-re @+1 {{{{^}}'nn.loss_scale' op expects parent op 'nn.recipe'{{$}}}}
nn.loss_scale static(8)
