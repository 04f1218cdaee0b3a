// RUN: hocket-opt %s --nn-inline-blocks --nn-verify-model --verify-diagnostics --split-input-file

// Sound: the recipe freezes what the loss does not use; two groups set different things on one parameter.
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %spare = param "spare" : tensor<4xf32> init ones
  %wte = param "wte" : tensor<5x4xf32> init ones
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<5x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %x, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 2 sequences
  precision params f32 compute f32 accumulate f32
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  group "spare" frozen
  group "*" lr_scale 0.5
  group "wte" weight_decay 0.0
}

// -----

// Every fault of model and recipe in one run.
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  // expected-error-re @+1 {{{{^}}no gradient reaches parameter 'spare': no path to the loss; use it, or freeze it by a group of the recipe{{$}}}}
  %spare = param "spare" : tensor<4xf32> init ones
  %wte = param "wte" : tensor<5x4xf32> init ones
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<5x4xf32> -> tensor<?x2x4xf32>
  %sum, %count = cross_entropy %x, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
// expected-note-re @+1 {{{{^}}recipe @r trains it{{$}}}}
nn.recipe @r for @m {
  batch 2 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4)
  // expected-error-re @+1 {{{{^}}group 'wtf' fits no parameter of @m; the nearest name is 'wte'{{$}}}}
  group "wtf" lr_scale 0.5
  // expected-note-re @+1 {{{{^}}set here, by group '*'{{$}}}}
  group "*" lr_scale 0.5 weight_decay 0.0
  // expected-error-re @+2 {{{{^}}group 'wte' sets the learning rate of 'wte', which another group has set{{$}}}}
  // expected-error-re @+1 {{{{^}}group 'wte' sets the weight decay of 'wte', which another group has set{{$}}}}
  group "wte" lr_scale 0.25 weight_decay 0.1
}

// -----

// expected-error-re @+2 {{{{^}}argument 'tokens' of model @m is not used{{$}}}}
// expected-error-re @+1 {{{{^}}model @m has no parameters; there is nothing to train{{$}}}}
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %x = elementwise %next : tensor<?x2xi32> -> tensor<?x2xf32> {
  ^bb0(%i: i32):
    %f = arith.sitofp %i : i32 to f32
    return %f : f32
  }
  %sum = sum %x : tensor<?x2xf32> -> tensor<f32>
  %count = count_tokens %next : tensor<?x2xi32> -> tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// -----

nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<5x4xf32> init ones
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<5x4xf32> -> tensor<?x2x4xf32>
  %labels = elementwise %next : tensor<?x2xi32> -> tensor<?x2xi32> {
  ^bb0(%i: i32):
    return %i : i32
  }
  // expected-error-re @+1 {{{{^}}labels are computed; they must be an argument of the model, so that the tokens of a whole batch can be counted before it runs{{$}}}}
  %sum, %count = cross_entropy %x, %labels : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// -----

// A parameter is told where it is written, and not all that is made of it.
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  // expected-error-re @+1 {{{{^}}parameter 'wte' is of 'bf16'; a model is written in f32, and the recipe's precision says what is kept and computed in which type{{$}}}}
  %wte = param "wte" : tensor<5x4xbf16> init ones
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<5x4xbf16> -> tensor<?x2x4xbf16>
  %y = gelu %x : tensor<?x2x4xbf16> -> tensor<?x2x4xbf16>
  // expected-error-re @+1 {{{{^}}elementwise makes values of 'f64'; a model is written in f32, and the recipe's precision says what is kept and computed in which type{{$}}}}
  %c = elementwise -> tensor<f64> {
    %one = arith.constant 1.0 : f64
    return %one : f64
  }
  %z = elementwise %y, %c : tensor<?x2x4xbf16>, tensor<f64> -> tensor<?x2x4xf32> {
  ^bb0(%a: f32, %b: f64):
    return %a : f32
  }
  %sum, %count = cross_entropy %z, %next : tensor<?x2x4xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// -----

// One line, two layers, one fault.
nn.block @layer(%x: tensor<?x2x4xbf16>) -> tensor<?x2x4xbf16> {
  // expected-error-re @+1 {{{{^}}parameter 'h.0.bias' is of 'bf16'; a model is written in f32, and the recipe's precision says what is kept and computed in which type{{$}}}}
  %b = param "bias" : tensor<4xbf16> init ones
  %y = add %x, %b : tensor<?x2x4xbf16>, tensor<4xbf16> -> tensor<?x2x4xbf16>
  return %y : tensor<?x2x4xbf16>
}
nn.model @m(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  // expected-error-re @+1 {{{{^}}parameter 'wte' is of 'bf16'; a model is written in f32, and the recipe's precision says what is kept and computed in which type{{$}}}}
  %wte = param "wte" : tensor<5x4xbf16> init ones
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<5x4xbf16> -> tensor<?x2x4xbf16>
  %y = repeat @layer(%x) 2 as "h" : tensor<?x2x4xbf16>
  %sum, %count = cross_entropy %y, %next : tensor<?x2x4xbf16>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}

// -----

// The types of a router say how many tokens an expert takes; the recipe's capacity must give the same number. One message for all
// layers.
nn.block @layer(%x: tensor<?x6x4xf32>, %pos: tensor<?x6xi32>) -> tensor<?x6x4xf32> {
  %g = param "gate" : tensor<4x3xf32> init ones
  %e = param "experts" : tensor<3x4x4xf32> init ones
  %l = router_logits %x, %g : tensor<?x6x4xf32>, tensor<4x3xf32> -> tensor<?x6x3xf32>
  // expected-error-re @+1 {{{{^}}router in h.0 takes 4 tokens of a sequence for each expert, expected 5 = ceil(2 * 6 * 1.25 / 3){{$}}}}
  %w, %s, %t, %b = router %l at %pos top 2 : tensor<?x6x3xf32>, tensor<?x6xi32> -> tensor<?x6x2xf32>, tensor<?x6x2xi32>, tensor<?x3x4xi32>, tensor<?xf32>
  %d = dispatch %x by %s, %t : tensor<?x6x4xf32>, tensor<?x6x2xi32>, tensor<?x3x4xi32> -> tensor<3x?x4x4xf32>
  %o = matmul %d, %e "e b c h, e h f -> e b c f" : tensor<3x?x4x4xf32>, tensor<3x4x4xf32> -> tensor<3x?x4x4xf32>
  %y = combine %o by %s, %t weighted %w : tensor<3x?x4x4xf32>, tensor<?x6x2xi32>, tensor<?x3x4xi32>, tensor<?x6x2xf32> -> tensor<?x6x4xf32>
  return %y : tensor<?x6x4xf32>
}
nn.model @m(%tokens: tensor<?x6xi32>, %next: tensor<?x6xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init ones
  %pos = positions : tensor<?x6xi32>
  %x = embedding %tokens, %wte : tensor<?x6xi32>, tensor<4x4xf32> -> tensor<?x6x4xf32>
  %y = repeat @layer(%x, %pos) 2 as "h" : tensor<?x6x4xf32>, tensor<?x6xi32> -> tensor<?x6x4xf32>
  %sum, %count = cross_entropy %y, %next : tensor<?x6x4xf32>, tensor<?x6xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
nn.recipe @r for @m {
  batch 2 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
  // expected-note-re @+1 {{{{^}}the capacity of recipe @r{{$}}}}
  capacity 1.25
}

// -----

nn.model @m(%tokens: tensor<?x6xi32>, %next: tensor<?x6xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<4x4xf32> init ones
  %g = param "gate" : tensor<4x3xf32> init ones
  %pos = positions : tensor<?x6xi32>
  %x = embedding %tokens, %wte : tensor<?x6xi32>, tensor<4x4xf32> -> tensor<?x6x4xf32>
  %l = router_logits %x, %g : tensor<?x6x4xf32>, tensor<4x3xf32> -> tensor<?x6x3xf32>
  // expected-note-re @+1 {{{{^}}the experts of this router{{$}}}}
  %w, %s, %t, %b = router %l at %pos top 2 : tensor<?x6x3xf32>, tensor<?x6xi32> -> tensor<?x6x2xf32>, tensor<?x6x2xi32>, tensor<?x3x4xi32>, tensor<?xf32>
  %d = dispatch %x by %s, %t : tensor<?x6x4xf32>, tensor<?x6x2xi32>, tensor<?x3x4xi32> -> tensor<3x?x4x4xf32>
  %y = combine %d by %s, %t weighted %w : tensor<3x?x4x4xf32>, tensor<?x6x2xi32>, tensor<?x3x4xi32>, tensor<?x6x2xf32> -> tensor<?x6x4xf32>
  %sum, %count = cross_entropy %y, %next : tensor<?x6x4xf32>, tensor<?x6xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
// expected-error-re @+1 {{{{^}}recipe @r needs 'capacity': model @m has experts, and the recipe says how many tokens of a sequence each takes{{$}}}}
nn.recipe @r for @m {
  batch 2 sequences
  optimizer adamw(betas = [0.9, 0.95], weight_decay = 0.1)
  learning_rate constant(0.1)
}
