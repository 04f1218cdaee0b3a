// RUN: hocket-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+2 {{{{^}}'nn.group' op has the pattern 'h..w', expected components of letters, digits, '_', '-' or '*' joined by dots{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.group' op 'h..w' is frozen: it has no lr_scale and no weight_decay{{$}}}}
  group "h..w" frozen lr_scale 2.0
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+1 {{{{^}}'nn.group' op 'wte' sets nothing (known: lr_scale, weight_decay, frozen){{$}}}}
  group "wte"
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+2 {{{{^}}'nn.group' op lr_scale is 0.0, expected above 0 (or: frozen){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.group' op weight_decay is -1.0, expected at least 0{{$}}}}
  group "wte" lr_scale 0.0 weight_decay -1.0
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
