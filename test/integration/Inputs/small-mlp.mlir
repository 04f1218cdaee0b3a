// No attention: an embedding, one layer and a head.
nn.model @mlp(%tokens: tensor<?x8xi32>, %next: tensor<?x8xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<97x64xf32> init normal(0.06)
  %x = embedding %tokens, %wte : tensor<?x8xi32>, tensor<97x64xf32> -> tensor<?x8x64xf32>
  %g = param "norm.weight" : tensor<64xf32> init ones
  %n = rms_norm %x, %g : tensor<?x8x64xf32>, tensor<64xf32> -> tensor<?x8x64xf32>
  %up = param "up.weight" : tensor<64x130xf32> init normal(0.06)
  %h = linear %n, %up : tensor<?x8x64xf32>, tensor<64x130xf32> -> tensor<?x8x130xf32>
  %a = gelu %h : tensor<?x8x130xf32> -> tensor<?x8x130xf32>
  %down = param "down.weight" : tensor<130x64xf32> init normal(0.06)
  %d = linear %a, %down : tensor<?x8x130xf32>, tensor<130x64xf32> -> tensor<?x8x64xf32>
  %y = add %x, %d : tensor<?x8x64xf32>, tensor<?x8x64xf32> -> tensor<?x8x64xf32>
  %head = param "head.weight" : tensor<64x97xf32> init normal(0.06)
  %logits = linear %y, %head : tensor<?x8x64xf32>, tensor<64x97xf32> -> tensor<?x8x97xf32>
  %sum, %count = cross_entropy %logits, %next : tensor<?x8x97xf32>, tensor<?x8xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

nn.recipe @pretrain for @mlp {
  batch 8 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 2, decay = 100, floor = 1.0e-4)
  clip 1.0
  seed 77
}
