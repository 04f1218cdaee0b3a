// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @dim(%x: tensor<8xf32>, %n: i64) {
  // expected-error-re @+1 {{{{^}}'step.mask' op dim is 1, expected 0 to 0 (1 dimensions){{$}}}}
  %0 = step.mask %x dim 1 extent %n with 0.0 : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @type(%x: tensor<8xf32>, %n: i64) {
  // expected-error-re @+1 {{{{^}}'step.mask' op result is 'tensor<4xf32>', expected 'tensor<8xf32>'{{$}}}}
  %0 = step.mask %x dim 0 extent %n with 0.0 : tensor<8xf32> -> tensor<4xf32>
  return
}
