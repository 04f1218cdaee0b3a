// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @dim(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'step.pack' op dim is 2, expected 0 to 1 (2 dimensions){{$}}}}
  %0 = step.pack %x dim 2 pieces 2 : tensor<4x6xf32> -> tensor<2x4x3xf32>
  return
}

// -----

func.func @pieces(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'step.pack' op makes 0 pieces, expected at least 1{{$}}}}
  %0 = step.pack %x dim 1 pieces 0 : tensor<4x6xf32> -> tensor<0x4x3xf32>
  return
}

// -----

func.func @type(%x: tensor<4x5xf32>) {
  // expected-error-re @+1 {{{{^}}'step.pack' op result is 'tensor<2x4x2xf32>', expected 'tensor<2x4x3xf32>'{{$}}}}
  %0 = step.pack %x dim 1 pieces 2 : tensor<4x5xf32> -> tensor<2x4x2xf32>
  return
}
