// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%x: tensor<?x3x4xf32>, %g: tensor<5xf32>) {
  // expected-error-re @+3 {{{{^}}'nn.rms_norm' op eps is -1.0, expected more than 0{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.rms_norm' op dimension 0 of gain is 5, expected 4 (dimension 2 of x){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.rms_norm' op y has 2 dimensions, expected 3 (b s h){{$}}}}
  %0 = rms_norm %x, %g eps(-1) : tensor<?x3x4xf32>, tensor<5xf32> -> tensor<?x4xf32>
  return
}

// -----

nn.block @b(%x: tensor<f32>, %g: tensor<4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.rms_norm' op x has 0 dimensions, expected at least 1{{$}}}}
  %0 = rms_norm %x, %g : tensor<f32>, tensor<4xf32> -> tensor<f32>
  return
}

// -----

nn.block @b(%x: tensor<2x4xi8>, %g: tensor<4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.rms_norm' op element type of x is 'i8', expected a float type{{$}}}}
  %0 = rms_norm %x, %g : tensor<2x4xi8>, tensor<4xf32> -> tensor<2x4xi8>
  return
}
