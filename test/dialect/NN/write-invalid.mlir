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
  slot param "w" : tensor<8xf32> init zeros
  slot first_moment "w" : tensor<8xf32>
  // expected-note-re @+1 {{{{^}}slot declared here{{$}}}}
  slot second_moment "w" : tensor<8xf32>
  slot accumulator "w" : tensor<8xf32>
  slot value "scale" : tensor<f32>
  slot input "labels" : tensor<2x4xi32>
  slot output "loss" : tensor<f32>
} begin {
  %0 = read param "w" : tensor<8xf32>
  // expected-error-re @+1 {{{{^}}'nn.write' op of kind param in 'begin' (it writes: value){{$}}}}
  write param "w", %0 : tensor<8xf32>
} microbatch {
  %0 = read accumulator "w" : tensor<8xf32>
  // expected-note-re @+1 {{{{^}}the first one is here{{$}}}}
  write accumulator "w", %0 : tensor<8xf32>
  // expected-error-re @+1 {{{{^}}'nn.write' op is a second write of 'w' in 'microbatch'{{$}}}}
  write accumulator "w", %0 : tensor<8xf32>
  %1 = read value "scale" : tensor<f32>
  // expected-error-re @+1 {{{{^}}'nn.write' op of kind value in 'microbatch' (it writes: accumulator){{$}}}}
  write value "scale", %1 : tensor<f32>
} update {
  %0 = read value "scale" : tensor<f32>
  // expected-error-re @+1 {{{{^}}'nn.write' op of the unknown slot output 'los' (nearest: loss){{$}}}}
  write output "los", %0 : tensor<f32>
  // expected-error-re @+1 {{{{^}}'nn.write' op of 'w' as 'tensor<f32>', the slot holds 'tensor<8xf32>': element type and rank must agree{{$}}}}
  write second_moment "w", %0 : tensor<f32>
} evaluate {
  %0 = read param "w" : tensor<8xf32>
  // expected-error-re @+1 {{{{^}}'nn.write' op of kind param in 'evaluate' (it writes: output){{$}}}}
  write param "w", %0 : tensor<8xf32>
}
