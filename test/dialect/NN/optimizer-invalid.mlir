// RUN: hocket-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+4 {{{{^}}'nn.optimizer' op beta is 1.0, expected at least 0 and below 1{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.optimizer' op beta is -0.5, expected at least 0 and below 1{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.optimizer' op eps is 0.0, expected above 0{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.optimizer' op weight_decay is -0.1, expected at least 0{{$}}}}
  optimizer adamw(betas = [1.0, -0.5], eps = 0.0, weight_decay = -0.1)
  batch 32 sequences
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.optimizer' adamw has no argument 'beta' (known: betas, eps, weight_decay){{$}}}}
  optimizer adamw(beta = [0.9, 0.95], weight_decay = 0.1)
  batch 32 sequences
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.optimizer' adamw has 'betas' twice{{$}}}}
  optimizer adamw(betas = [0.9, 0.95], betas = [0.9, 0.95])
  batch 32 sequences
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.optimizer' adamw needs 'weight_decay'{{$}}}}
  optimizer adamw(betas = [0.9, 0.95])
  batch 32 sequences
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.optimizer' adamw has two betas, found 1{{$}}}}
  optimizer adamw(betas = [0.9], weight_decay = 0.1)
  batch 32 sequences
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.optimizer' expected a number{{$}}}}
  optimizer adamw(betas = [0.9, 0.95], weight_decay = little)
  batch 32 sequences
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.optimizer' expected an argument of adamw (known: betas, eps, weight_decay){{$}}}}
  optimizer adamw()
  batch 32 sequences
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.optimizer' expected 'adamw'{{$}}}}
  optimizer sgd(momentum = 0.9)
  batch 32 sequences
  learning_rate constant(0.1)
}
