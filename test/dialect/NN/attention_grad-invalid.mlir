// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%d: tensor<2x4x3x3xf32>, %q: tensor<2x4x3x5xf32>, %k: tensor<2x4x3x5xf32>, %v: tensor<2x4x3x2xf32>, %p: tensor<2x4xi32>, %y: tensor<2x4x3x2xf32>, %l: tensor<2x4x3xf32>) {
  // expected-error-re @+5 {{{{^}}'nn.attention_grad' op dimension 3 of v is 2, expected 3 (dimension 3 of dy){{$}}}}
  // expected-error-re @+4 {{{{^}}'nn.attention_grad' op dimension 3 of y is 2, expected 3 (dimension 3 of dy){{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.attention_grad' op dimension 3 of dq is 4, expected 5 (dimension 3 of q){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.attention_grad' op dimension 1 of dk is 5, expected 4 (dimension 1 of k){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.attention_grad' op dv has 3 dimensions, expected 4 (b t n e){{$}}}}
  %0, %1, %2 = attention_grad %d, %q, %k, %v at %p, %p, %y, %l causal scale(0.5) : tensor<2x4x3x3xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4x3x2xf32>, tensor<2x4x3xf32> -> tensor<2x4x3x4xf32>, tensor<2x5x3x5xf32>, tensor<2x4x3xf32>
  return
}

// -----

nn.block @b(%d: tensor<2x4x3x2xf32>, %q: tensor<2x4xf32>, %k: tensor<2x4x3x5xf32>, %v: tensor<2x4x3x2xf32>, %p: tensor<2x4xi32>, %y: tensor<2x4x3x2xf32>, %l: tensor<2x4x3xf32>) {
  // expected-error-re @+3 {{{{^}}'nn.attention_grad' op window is -1, expected at least 1{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.attention_grad' op softcap is 0.0, expected more than 0{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.attention_grad' op q has 2 dimensions, expected 4 to 5{{$}}}}
  %0, %1, %2 = attention_grad %d, %q, %k, %v at %p, %p, %y, %l causal scale(0.5) window(-1) softcap(0) : tensor<2x4x3x2xf32>, tensor<2x4xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4x3x2xf32>, tensor<2x4x3xf32> -> tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>
  return
}

// -----

nn.block @b(%d: tensor<2x4x3x2xf32>, %q: tensor<2x4x3x5xf32>, %k: tensor<2x4x3x5xf32>, %v: tensor<2x4x3x2xf32>, %p: tensor<2x4xi32>, %y: tensor<2x4x3x2xf32>, %l: tensor<2x4x2xbf16>) {
  // expected-error-re @+2 {{{{^}}'nn.attention_grad' op element type of lse is 'bf16', expected 'f32'{{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.attention_grad' op dimension 2 of lse is 2, expected 3 (dimension 2 of dy){{$}}}}
  %0, %1, %2 = attention_grad %d, %q, %k, %v at %p, %p, %y, %l causal scale(0.5) : tensor<2x4x3x2xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4x3x2xf32>, tensor<2x4x2xbf16> -> tensor<2x4x3x5xf32>, tensor<2x4x3x5xf32>, tensor<2x4x3x2xf32>
  return
}
