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
