// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%i: tensor<4xi64>) {
  // expected-error-re @+3 {{{{^}}'nn.count_tokens' op element type of labels is 'i64', expected 'i32'{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.count_tokens' op element type of count is 'i32', expected 'i64'{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.count_tokens' op count has 1 dimension, expected none{{$}}}}
  %0 = count_tokens %i : tensor<4xi64> -> tensor<1xi32>
  return
}
