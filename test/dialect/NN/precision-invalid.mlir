// RUN: hocket-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file

nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %sum, %count = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @gpt {
  // expected-error-re @+5 {{{{^}}'nn.precision' op params is 'f64', expected f32, bf16 or f16{{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.precision' op compute is 'i8', expected f32, bf16 or f16{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.precision' op accumulate is 'tensor<2xf32>', expected f32, bf16 or f16{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.precision' op reduce is 'f8E4M3FN', expected f32, bf16 or f16{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.precision' op master is 'index', expected f32, bf16 or f16{{$}}}}
  precision params f64 compute i8 accumulate tensor<2xf32> reduce f8E4M3FN master index
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
  // expected-error-re @+4 {{{{^}}'nn.precision' op params is 'f16', expected 'f32' or 'bf16' (as compute): parameters are read as compute, and never widened for it{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.precision' op accumulate is 'f16', expected 'f32' or 'bf16' (as compute): sums are no narrower than what is added{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.precision' op reduce is 'f16', expected 'f32' or 'bf16' (as compute): sums are no narrower than what is added{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.precision' op master is 'bf16', expected 'f32' or 'f16' (as params): it is what the optimizer works on{{$}}}}
  precision params f16 compute bf16 accumulate f16 reduce f16 master bf16
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
  // expected-error-re @+2 {{{{^}}'nn.precision' op params is 'bf16', expected 'f32': parameters are read as compute, and never widened for it{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.precision' op accumulate is 'bf16', expected 'f32': sums are no narrower than what is added{{$}}}}
  precision params bf16 compute f32 accumulate bf16
  batch 32 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
