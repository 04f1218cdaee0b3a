// RUN: hocket-opt %s --verify-diagnostics --split-input-file

nn.block @b(%a: tensor<?x3x4xf32>, %b: tensor<5xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.add' op dimension 0 of b is 5, expected 4 (dimension 2 of a){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.add' op dimension 2 of y is 6, expected 4 (dimension 2 of a){{$}}}}
  %0 = add %a, %b : tensor<?x3x4xf32>, tensor<5xf32> -> tensor<?x3x6xf32>
  return
}

// -----

nn.block @b(%a: tensor<4xf32>, %b: tensor<3x4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.add' op b has 2 dimensions, expected at most 1 (the rank of a){{$}}}}
  %0 = add %a, %b : tensor<4xf32>, tensor<3x4xf32> -> tensor<4xf32>
  return
}

// -----

nn.block @b(%a: tensor<?x3x4xf32>, %b: tensor<1x4xf32>) {
  // expected-error-re @+1 {{{{^}}'nn.add' op dimension 0 of b is 1, expected 3 (dimension 1 of a){{$}}}}
  %0 = add %a, %b : tensor<?x3x4xf32>, tensor<1x4xf32> -> tensor<?x3x4xf32>
  return
}

// -----

nn.block @b(%a: tensor<3xbf16>, %b: tensor<3xf32>) {
  // expected-error-re @+2 {{{{^}}'nn.add' op element type of b is 'f32', expected 'bf16' (that of a){{$}}}}
  // expected-error-re @+1 {{{{^}}'nn.add' op element type of y is 'f64', expected 'bf16' (that of a){{$}}}}
  %0 = add %a, %b : tensor<3xbf16>, tensor<3xf32> -> tensor<3xf64>
  return
}

// -----

nn.block @b(%a: tensor<3xcomplex<f32>>) {
  // expected-error-re @+1 {{{{^}}'nn.add' op element type of a is 'complex<f32>', expected an integer or float type{{$}}}}
  %0 = add %a, %a : tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
  return
}
