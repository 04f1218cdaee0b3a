// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @dim(%x: tensor<8xf32>, %at: i64) {
  // expected-error-re @+1 {{{{^}}'step.slice' op dim is -1, expected 0 to 0 (1 dimensions){{$}}}}
  %0 = step.slice %x dim -1 offset %at : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

func.func @type(%x: tensor<8x6xf32>, %at: i64) {
  // expected-error-re @+1 {{{{^}}'step.slice' op result is 'tensor<4x5xf32>', expected 'tensor<4x6xf32>'{{$}}}}
  %0 = step.slice %x dim 0 offset %at : tensor<8x6xf32> -> tensor<4x5xf32>
  return
}
