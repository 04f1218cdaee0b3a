// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @layer(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}'nn.call' op calls the unknown block 'lyaer' (nearest: layer){{$}}}}
  %y = call @lyaer(%x) as "h" : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}'nn.call' op calls the unknown block 'attention' (known: b){{$}}}}
  %y = call @attention(%x) as "h" : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// expected-note-re @+1 {{{{^}}block declared here{{$}}}}
nn.block @layer(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
nn.block @b(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error-re @+1 {{{{^}}'nn.call' op calls @layer as ('tensor<3xf32>') -> ('tensor<3xf32>'), the block is ('tensor<2xf32>') -> ('tensor<2xf32>'){{$}}}}
  %y = call @layer(%x) as "h" : tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

nn.block @self(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}'nn.call' op makes block @self contain itself{{$}}}}
  %y = call @self(%x) as "h" : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A cycle is one fault, told at its first block; the block before it is not at fault.
nn.block @before(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @a(%x) as "h" : tensor<2xf32>
  return %y : tensor<2xf32>
}
nn.block @a(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}'nn.call' op makes block @a contain itself{{$}}}}
  %y = call @b(%x) as "h" : tensor<2xf32>
  return %y : tensor<2xf32>
}
nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-note-re @+1 {{{{^}}through the call of @c here{{$}}}}
  %y = repeat @c(%x) 2 as "h" : tensor<2xf32>
  return %y : tensor<2xf32>
}
nn.block @c(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-note-re @+1 {{{{^}}through the call of @a here{{$}}}}
  %y = call @a(%x) as "h" : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

nn.block @layer(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}'nn.call' op has the name 'h.', expected components of letters, digits, '_' and '-' joined by dots{{$}}}}
  %y = call @layer(%x) as "h." : tensor<2xf32>
  return %y : tensor<2xf32>
}
