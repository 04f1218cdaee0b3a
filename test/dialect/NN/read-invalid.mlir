// RUN: hocket-opt %s --verify-diagnostics --split-input-file
// Every wrong read of a step is told in one run.

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
  // expected-note-re @+1 {{{{^}}slot declared here{{$}}}}
  slot param "w" : tensor<8xf32> init zeros
  slot first_moment "w" : tensor<8xf32>
  slot second_moment "w" : tensor<8xf32>
  slot accumulator "w" : tensor<8xf32>
  slot value "scale" : tensor<f32>
  // expected-note-re @+1 {{{{^}}slot declared here{{$}}}}
  slot input "labels" : tensor<2x4xi32>
  slot output "loss" : tensor<f32>
} begin {
  // expected-error-re @+1 {{{{^}}'nn.read' op of kind accumulator in 'begin' (it reads: param, state, input){{$}}}}
  %0 = read accumulator "w" : tensor<8xf32>
  // expected-error-re @+1 {{{{^}}'nn.read' op of 'labels' as 'tensor<1x1x2x4xi32>', the slot holds 'tensor<2x4xi32>': element type and rank must agree{{$}}}}
  %1 = read input "labels" : tensor<1x1x2x4xi32>
} microbatch {
  // expected-error-re @+1 {{{{^}}'nn.read' op of kind first_moment in 'microbatch' (it reads: param, accumulator, value, input){{$}}}}
  %0 = read first_moment "w" : tensor<8xf32>
  // expected-error-re @+1 {{{{^}}'nn.read' op of the unknown slot value 'scael' (nearest: scale){{$}}}}
  %1 = read value "scael" : tensor<f32>
  // expected-error-re @+1 {{{{^}}'nn.read' op of 'w' as 'tensor<8xbf16>', the slot holds 'tensor<8xf32>': element type and rank must agree{{$}}}}
  %2 = read param "w" : tensor<8xbf16>
} update {
  // expected-error-re @+1 {{{{^}}'nn.read' op of kind output in 'update' (it reads: param, first_moment, second_moment, master, state, accumulator, value, input){{$}}}}
  %0 = read output "loss" : tensor<f32>
} evaluate {
  // expected-error-re @+1 {{{{^}}'nn.read' op of kind second_moment in 'evaluate' (it reads: param, accumulator, value, input){{$}}}}
  %0 = read second_moment "w" : tensor<8xf32>
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
  slot param "w" : tensor<8xf32> init zeros
  slot first_moment "w" : tensor<8xf32>
  slot second_moment "w" : tensor<8xf32>
  slot accumulator "w" : tensor<8xf32>
  slot value "scale" : tensor<f32>
  slot input "labels" : tensor<2x4xi32>
  slot output "loss" : tensor<f32>
} begin {
} microbatch {
  // expected-error-re @+1 {{{{^}}custom op 'nn.read' unknown kind of slot 'weight' (known: param, first_moment, second_moment, master, state, accumulator, value, input, output){{$}}}}
  %0 = read weight "w" : tensor<8xf32>
} update {
} evaluate {
}

// -----

// An op that lacks what its region asks for is told once, by itself.
nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  // expected-error-re @+1 {{{{^}}'nn.param' op requires attribute 'name'{{$}}}}
  %w = "nn.param"() {init = #nn.init<ones>} : () -> tensor<8x8xf32>
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// -----

nn.training_step @t of @gpt with @r microbatches 1 slots {
} begin {
} microbatch {
  // expected-error-re @+1 {{{{^}}'nn.read' op requires attribute 'kind'{{$}}}}
  %0 = "nn.read"() {name = "w"} : () -> tensor<2xf32>
} update {
} evaluate {
}
