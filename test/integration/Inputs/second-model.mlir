// Appended to a model file: a function, and a model that no recipe trains.
func.func private @f()
nn.model @second(%tokens: tensor<?x27xi32>, %next: tensor<?x27xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<257x257xf32> init zeros
  %e = embedding %tokens, %w : tensor<?x27xi32>, tensor<257x257xf32> -> tensor<?x27x257xf32>
  %s, %c = cross_entropy %e, %next : tensor<?x27x257xf32>, tensor<?x27xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
