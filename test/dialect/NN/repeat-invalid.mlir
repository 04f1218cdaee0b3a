// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @same(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+2 {{{{^}}'nn.repeat' op has the name '', expected components of letters, digits, '_' and '-' joined by dots{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.repeat' op repeats 0 times, expected 1 to 100000{{$}}}}
  %y = repeat @same(%x) 0 as "" : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

nn.block @change(%x: tensor<2xf32>) -> tensor<3xf32> {
  %w = param "w" : tensor<3xf32> init ones
  return %w : tensor<3xf32>
}
nn.block @b(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error-re @+1 {{{{^}}'nn.repeat' op must map its first arguments to themselves: found ('tensor<2xf32>') -> ('tensor<3xf32>'){{$}}}}
  %y = repeat @change(%x) 2 as "h" : tensor<2xf32> -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

nn.block @sink(%x: tensor<2xf32>) {
  return
}
nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}'nn.repeat' op has 0 results, expected between 1 and the 1 arguments{{$}}}}
  repeat @sink(%x) 2 as "h" : tensor<2xf32> -> ()
  return %x : tensor<2xf32>
}

// -----

nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}'nn.repeat' op calls the unknown block 'layer' (known: b){{$}}}}
  %y = repeat @layer(%x) 2 as "h" : tensor<2xf32>
  return %y : tensor<2xf32>
}
