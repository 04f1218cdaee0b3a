// RUN: hocket-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
// expected-error-re @+3 {{{{^}}'nn.recipe' op @r needs 'batch'{{$}}}}
// expected-error-re @+2 {{{{^}}'nn.recipe' op @r needs 'optimizer'{{$}}}}
// expected-error-re @+1 {{{{^}}'nn.recipe' op @r needs 'learning_rate'{{$}}}}
nn.recipe @r for @gpt {
  // expected-note-re @+1 {{{{^}}the first one is here{{$}}}}
  clip 1.0
  // expected-error-re @+1 {{{{^}}'nn.clip' op is a second 'clip' in recipe @r{{$}}}}
  clip 2.0
  // expected-error-re @+1 {{{{^}}'nn.return' op does not belong in a recipe (known: batch, precision, optimizer, learning_rate, clip, loss_scale, capacity, auxiliary_loss, seed, group){{$}}}}
  return
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
// expected-error-re @+1 {{{{^}}'nn.recipe' op is for the unknown model 'gpr' (nearest: gpt){{$}}}}
nn.recipe @r for @gpr {
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}

// -----

// expected-error-re @+1 {{{{^}}'nn.recipe' op is for the unknown model 'gpt' (there is none){{$}}}}
nn.recipe @r for @gpt {
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
