// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op contracted dimensions stand as 'n d' in a and as 'd n' in b{{$}}}}
  %0 = matmul %a, %b "b s n d, h d n -> b s h" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.matmul' op contracted dimensions 'n d' do not stand together in a ('b n s d'){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.matmul' op kept dimensions 'b s' do not stand together in a ('b n s d'){{$}}}}
  %0 = matmul %a, %b "b n s d, h n d -> b s h" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op kept dimensions 's b' do not stand together in y ('s h b'){{$}}}}
  %0 = matmul %a, %b "b s n d, h n d -> s h b" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op kept dimensions 'b s' do not stand together in y ('b h s'){{$}}}}
  %0 = matmul %a, %b "b s n d, h n d -> b h s" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op kept dimensions 't f' do not stand together in a ('e t h f'){{$}}}}
  %0 = matmul %a, %b "e t h f, e h k -> e t f k" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op contracted dimensions 'a e' do not stand together in b ('a f e'){{$}}}}
  %0 = matmul %a, %b "a e, a f e -> f" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op rule 'b s n d, h n d' has not the form 'a, b -> y', each a list of names{{$}}}}
  %0 = matmul %a, %b "b s n d, h n d" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op rule 'b s n d -> b s' has not the form 'a, b -> y', each a list of names{{$}}}}
  %0 = matmul %a, %b "b s n d -> b s" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op rule 'b s n d, h n d -> b, s h' has not the form 'a, b -> y', each a list of names{{$}}}}
  %0 = matmul %a, %b "b s n d, h n d -> b, s h" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op the rule has no names for b{{$}}}}
  %0 = matmul %a, %b "b s n d,  -> b s" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op '!n' is not a name of letters and digits{{$}}}}
  %0 = matmul %a, %b "b s !n d, h n d -> b s h" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.matmul' op 'n' stands twice in a{{$}}}}
  %0 = matmul %a, %b "b s n n, h n d -> b s h" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x5x2xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.matmul' op 'h' stands in b only{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.matmul' op 'v' stands in y only{{$}}}}
  %0 = matmul %a, %b "b s n d, h n d -> b s v" : tensor<2x3x5x2xf32>, tensor<7x5x2xf32> -> tensor<2x3x7xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x4x2xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.matmul' op dimension 1 of b is 4, expected 5 (dimension 2 of a){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.matmul' op y has 2 dimensions, expected 3 (b s h){{$}}}}
  %0 = matmul %a, %b "b s n d, h n d -> b s h" : tensor<2x3x5x2xf32>, tensor<7x4x2xf32> -> tensor<2x3xf32>
  return
}

// -----

nn.block @b(%a: tensor<2x3x5x2xf32>, %b: tensor<7x4x2xf32>) {
  // expected-error-re @+3 {{{{^}}'nn.matmul' op element type of y is 'bf16', expected 'f32' (that of a){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.matmul' op dimension 1 of b is 4, expected 5 (dimension 2 of a){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.matmul' op dimension 2 of y is 8, expected 7 (dimension 0 of b){{$}}}}
  %0 = matmul %a, %b "b s n d, h n d -> b s h" : tensor<2x3x5x2xf32>, tensor<7x4x2xf32> -> tensor<2x3x8xbf16>
  return
}
