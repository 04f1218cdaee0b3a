// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  batch 8 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
// expected-error-re @+2 {{{{^}}'nn.training_step' op names the unknown model 'gtp' (nearest: gpt){{$}}}}
// expected-error-re @+1 {{{{^}}'nn.training_step' op names the unknown recipe 'pretrain' (known: r){{$}}}}
nn.training_step @t of @gtp with @pretrain microbatches 1 slots {
} begin {
} microbatch {
} update {
} evaluate {
}

// -----

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  batch 8 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
// expected-error-re @+1 {{{{^}}'nn.training_step' op has 0 microbatches, expected at least 1{{$}}}}
nn.training_step @t of @gpt with @r microbatches 0 slots {
  // expected-note-re @+1 {{{{^}}the first one is here{{$}}}}
  slot value "a" : tensor<f32>
  // expected-error-re @+1 {{{{^}}'nn.slot' op is a second slot value 'a'{{$}}}}
  slot value "a" : tensor<f32>
  // Another kind of the same name is another slot.
  slot output "a" : tensor<f32>
  // expected-error-re @+1 {{{{^}}'arith.constant' op does not belong among the slots of @t (known: slot){{$}}}}
  %c = arith.constant 1 : i32
} begin {
} microbatch {
  // expected-error-re @+1 {{{{^}}'nn.slot' op stands in 'microbatch', expected in 'slots'{{$}}}}
  slot value "late" : tensor<f32>
} update {
} evaluate {
}
