// RUN: hocket-opt %s --nn-inline-blocks --verify-diagnostics --split-input-file

nn.block @layer(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  // expected-note-re @+1 {{{{^}}first named here{{$}}}}
  %w = param "b.w" : tensor<4x4xf32> init ones
  %y = linear %x, %w : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}
nn.block @other(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  // expected-error-re @+1 {{{{^}}parameter 'a.b.w' is named twice in @m; a tied parameter is one param used twice{{$}}}}
  %w = param "w" : tensor<4x4xf32> init ones
  %y = linear %x, %w : tensor<?x2x4xf32>, tensor<4x4xf32> -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<5x4xf32> init ones
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<5x4xf32> -> tensor<?x2x4xf32>
  %y = call @layer(%x) as "a" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %z = call @other(%y) as "a.b" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %z, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

