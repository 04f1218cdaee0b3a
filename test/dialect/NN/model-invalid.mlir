// RUN: hocket-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file

// expected-error-re @+2 {{{{^}}'nn.model' op takes tokens as 'tensor<?x4xi64>', expected tensor<?x(sequence)xi32>{{$}}}}
// expected-error-re @+1 {{{{^}}'nn.model' op returns ('tensor<?x4xi64>'), expected ('tensor<f32>', 'tensor<i64>'): the loss sum and the count of tokens{{$}}}}
nn.model @m(%tokens: tensor<?x4xi64>, %next: tensor<?x4xi32>) -> tensor<?x4xi64> {
  return %tokens : tensor<?x4xi64>
}

// -----

// expected-error-re @+1 {{{{^}}'nn.model' op takes labels as 'tensor<?x5xi32>', expected 'tensor<?x4xi32>' like the tokens{{$}}}}
nn.model @m(%tokens: tensor<?x4xi32>, %next: tensor<?x5xi32>) -> (tensor<f32>, tensor<i64>) {
  %s, %c = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %s, %c : tensor<f32>, tensor<i64>
}

// -----

// expected-error-re @+1 {{{{^}}'nn.model' op has 1 arguments, expected two or three: tokens, labels and perhaps documents{{$}}}}
nn.model @m(%tokens: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %s, %c = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  return %s, %c : tensor<f32>, tensor<i64>
}

// -----

// expected-note-re @+1 {{{{^}}as @m says here{{$}}}}
nn.model @m(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %s, %c = "test.loss"() : () -> (tensor<f32>, tensor<i64>)
  // expected-error-re @+1 {{{{^}}'nn.return' op returns ('tensor<i64>', 'tensor<f32>'), expected ('tensor<f32>', 'tensor<i64>'){{$}}}}
  return %c, %s : tensor<i64>, tensor<f32>
}
