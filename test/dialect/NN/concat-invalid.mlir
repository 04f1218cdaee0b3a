// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%a: tensor<?x3x2xf32>, %b: tensor<?x4x5xbf16>) {
  // expected-error-re @+3 {{{{^}}'nn.concat' op element type of operand 1 is 'bf16', expected 'f32' (that of y){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.concat' op dimension 2 of y is 8, expected 7, the sum of those of the operands{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.concat' op dimension 1 of operand 1 is 4, expected 3 (dimension 1 of operand 0){{$}}}}
  %0 = concat %a, %b dim 2 : tensor<?x3x2xf32>, tensor<?x4x5xbf16> -> tensor<?x3x8xf32>
  return
}

// -----

nn.block @b(%a: tensor<3xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.concat' op dim is 1, expected 0 to 0 (y has 1 dimension){{$}}}}
  %0 = concat %a dim 1 : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

nn.block @b(%a: tensor<3x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.concat' op operand 0 has 2 dimensions, expected 1 (the rank of y){{$}}}}
  %0 = concat %a dim 0 : tensor<3x2xf32> -> tensor<3xf32>
  return
}

// -----

nn.block @b(%a: tensor<?x2xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.concat' op dimension 0 is ?, expected known sizes{{$}}}}
  %0 = concat %a dim 0 : tensor<?x2xf32> -> tensor<?x2xf32>
  return
}

// -----

nn.block @b() {
  // expected-error-re @+1 {{{{^}}'nn.concat' op joins nothing; at least one tensor is needed{{$}}}}
  %0 = "nn.concat"() <{dim = 0 : i64}> : () -> tensor<2xf32>
  return
}
