// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}custom op 'nn.param' unknown initialiser 'uniform' (known: zeros, ones, normal, constant){{$}}}}
  %w = param "w" : tensor<2xf32> init uniform(0.1)
}

// -----

nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}custom op 'nn.param' expected initialiser (known: zeros, ones, normal, constant){{$}}}}
  %w = param "w" : tensor<2xf32> init 0.1
}

// -----

nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}custom op 'nn.param' expected a number{{$}}}}
  %w = param "w" : tensor<2xf32> init normal(small)
}

// -----

nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}custom op 'nn.param' number is too large{{$}}}}
  %w = param "w" : tensor<2xf32> init normal(1e999)
}

// -----

nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+4 {{{{^}}'nn.param' op has the name 'attn..w', expected components of letters, digits, '_' and '-' joined by dots{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.param' op 'attn..w' has elements of 'i32', expected a floating-point type{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.param' op 'attn..w' has the shape of 'tensor<?x0xi32>', expected dimensions that are known and at least 1{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.param' op 'attn..w' starts with deviation -1.0, expected at least 0{{$}}}}
  %w = param "attn..w" : tensor<?x0xi32> init normal(-1)
  return %x : tensor<2xf32>
}

// -----

nn.block @b(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error-re @+1 {{{{^}}'nn.param' op has the name '', expected components of letters, digits, '_' and '-' joined by dots{{$}}}}
  %w = param "" : tensor<2xf32> init ones
  return %x : tensor<2xf32>
}

// -----

// expected-error-re @+1 {{{{^}}'nn.param' op expects parent op to be one of 'nn.block, nn.model'{{$}}}}
%w = nn.param "w" : tensor<2xf32> init ones
