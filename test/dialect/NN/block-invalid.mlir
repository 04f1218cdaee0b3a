// RUN: hocket-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file

// expected-error-re @+3 {{{{^}}'nn.block' op argument 0 is 'tensor<?x?xf32>': only dimension 0, the batch, may be '?'{{$}}}}
// expected-error-re @+2 {{{{^}}'nn.block' op argument 1 is 'i32', expected a ranked tensor{{$}}}}
// expected-note-re @+1 {{{{^}}as @b says here{{$}}}}
nn.block @b(%x: tensor<?x?xf32>, %i: i32) -> tensor<?x4xf32> {
  // expected-error-re @+1 {{{{^}}'nn.return' op returns ('tensor<?x?xf32>'), expected ('tensor<?x4xf32>'){{$}}}}
  return %x : tensor<?x?xf32>
}

// -----

nn.block @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-note-re @+1 {{{{^}}the first one is here{{$}}}}
  %a = param "w" : tensor<2xf32> init ones
  // expected-error-re @+1 {{{{^}}'nn.param' op is a second parameter named 'w' in @twice{{$}}}}
  %b = param "w" : tensor<2xf32> init zeros
  return %x : tensor<2xf32>
}

// -----

nn.block @id(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
nn.block @calls(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-note-re @+1 {{{{^}}the first one is here{{$}}}}
  %y = call @id(%x) as "a" : tensor<2xf32>
  // expected-error-re @+1 {{{{^}}'nn.repeat' op is a second call named 'a' in @calls{{$}}}}
  %z = repeat @id(%y) 2 as "a" : tensor<2xf32>
  return %z : tensor<2xf32>
}

// -----

// expected-error-re @+1 {{{{^}}custom op 'nn.block' the arguments of @b need names: %x: tensor<…>{{$}}}}
nn.block @b(tensor<2xf32>) -> tensor<2xf32> {
}

// -----

// expected-error-re @+1 {{{{^}}'nn.block' op must end in nn.return{{$}}}}
nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  "test.end"(%x) : (tensor<2xf32>) -> ()
}
