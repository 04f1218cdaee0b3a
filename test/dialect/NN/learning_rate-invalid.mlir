// RUN: hocket-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.learning_rate' unknown learning rate 'linear' (known: cosine, constant){{$}}}}
  learning_rate linear(1e-3)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.learning_rate' cosine has no argument 'steps' (known: peak, warmup, decay, floor){{$}}}}
  learning_rate cosine(peak = 1e-3, steps = 5)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.learning_rate' cosine needs 'decay'{{$}}}}
  learning_rate cosine(peak = 1e-3)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.learning_rate' constant needs 'peak'{{$}}}}
  learning_rate constant(warmup = 3)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.learning_rate' constant has no argument 'floor' (known: peak, warmup){{$}}}}
  learning_rate constant(peak = 1e-3, floor = 0.1)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}custom op 'nn.learning_rate' expected an integer{{$}}}}
  learning_rate cosine(peak = 1e-3, decay = 0.5)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+4 {{{{^}}'nn.learning_rate' op peak is 0.0, expected above 0{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.learning_rate' op warmup is -1, expected at least 0 steps{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.learning_rate' op decay is -1, expected more than the -1 steps of warmup{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.learning_rate' op floor is 0.1, expected between 0 and peak, 0.0{{$}}}}
  learning_rate cosine(peak = 0.0, warmup = -1, decay = -1, floor = 0.1)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+2 {{{{^}}'nn.learning_rate' op decay is 20, expected more than the 20 steps of warmup{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.learning_rate' op floor is -0.1, expected between 0 and peak, 0.1{{$}}}}
  learning_rate cosine(peak = 0.1, warmup = 20, decay = 20, floor = -0.1)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}'nn.learning_rate' op peak is -0.001, expected above 0{{$}}}}
  learning_rate constant(-1e-3)
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}'nn.learning_rate' op floor of a constant rate is 0.05, expected 0{{$}}}}
  "nn.learning_rate"() {peak = 0.1 : f64, warmup = 0 : i64, floor = 0.05 : f64} : () -> ()
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
}
