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
nn.training_step @t of @gpt with @r microbatches 1 slots {
  // expected-error-re @+3 {{{{^}}'nn.slot' op has no name{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.slot' op '' holds 'tensor<?xf32>', expected a ranked tensor whose dimensions are known{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.slot' op '' is a parameter and needs 'init'{{$}}}}
  slot param "" : tensor<?xf32>
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
nn.training_step @t of @gpt with @r microbatches 1 slots {
  // expected-error-re @+2 {{{{^}}'nn.slot' op 'a' holds 'f32', expected a ranked tensor whose dimensions are known{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.slot' op 'a' is of kind accumulator, which has no 'init' (known: param, first_moment, second_moment, master, state){{$}}}}
  slot accumulator "a" : f32 init zeros
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
nn.training_step @t of @gpt with @r microbatches 1 slots {
  // expected-error-re @+1 {{{{^}}'nn.slot' op is placed by "here", which is no sharding{{$}}}}
  slot value "a" : tensor<f32> on "here"
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
nn.training_step @t of @gpt with @r microbatches 1 slots {
  // expected-error-re @+1 {{{{^}}custom op 'nn.slot' unknown kind of slot 'moment' (known: param, first_moment, second_moment, master, state, accumulator, value, input, output){{$}}}}
  slot moment "a" : tensor<f32>
} begin {
} microbatch {
} update {
} evaluate {
}

// -----

// expected-error-re @+1 {{{{^}}'nn.slot' op expects parent op 'nn.training_step'{{$}}}}
nn.slot value "a" : tensor<f32>

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
nn.training_step @t of @gpt with @r microbatches 1 slots {
  // expected-error-re @+1 {{{{^}}'nn.slot' op 's' is of kind state and holds 'tensor<2xf32>', expected a number without dimensions{{$}}}}
  slot state "s" : tensor<2xf32> init zeros
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
nn.training_step @t of @gpt with @r microbatches 1 slots {
  // expected-error-re @+1 {{{{^}}'nn.slot' op 'a' is in zigzag, which only inputs with a sequence can be{{$}}}}
  slot value "a" : tensor<2x4xi32> zigzag 2
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
nn.training_step @t of @gpt with @r microbatches 1 slots {
  // expected-error-re @+1 {{{{^}}'nn.slot' op 'b' is in zigzag over 0 ranks, expected at least 1{{$}}}}
  slot input "b" : tensor<2x4xi32> zigzag 0
} begin {
} microbatch {
} update {
} evaluate {
}
