// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x4xf32>, %g: tensor<5xf32>, %b: tensor<4x1xf32>) {
  // expected-error-re @+4 {{{{^}}'nn.layer_norm' op eps is 0.0, expected more than 0{{$}}}}
  // expected-error-re @+3 {{{{^}}'nn.layer_norm' op dimension 0 of gain is 5, expected 4 (dimension 2 of x){{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.layer_norm' op bias has 2 dimensions, expected 1 (h){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.layer_norm' op dimension 0 of y is 2, expected ? (dimension 0 of x){{$}}}}
  %0 = layer_norm %x, %g, %b eps(0) : tensor<?x3x4xf32>, tensor<5xf32>, tensor<4x1xf32> -> tensor<2x3x4xf32>
  return
}

// -----

nn.block @b(%x: tensor<f32>, %g: tensor<4xf32>, %b: tensor<4xbf16>) {
  // expected-error-re @+2 {{{{^}}'nn.layer_norm' op element type of bias is 'bf16', expected 'f32' (that of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.layer_norm' op x has 0 dimensions, expected at least 1{{$}}}}
  %0 = layer_norm %x, %g, %b : tensor<f32>, tensor<4xf32>, tensor<4xbf16> -> tensor<f32>
  return
}

// -----

nn.block @b(%x: tensor<?x3x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error-re @+1 {{{{^}}expected '('{{$}}}}
  %0 = layer_norm %x, %g, %b eps 1e-6 : tensor<?x3x4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>
  return
}
