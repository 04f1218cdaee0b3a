// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @scalar(%x: tensor<f32>) {
  // expected-error-re @+1 {{{{^}}'step.unpack' op has no dimension of pieces{{$}}}}
  %0 = step.unpack %x dim 0 : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @dim(%x: tensor<2x4xf32>) {
  // expected-error-re @+1 {{{{^}}'step.unpack' op dim is 1, expected 0 to 0 (1 dimensions){{$}}}}
  %0 = step.unpack %x dim 1 : tensor<2x4xf32> -> tensor<8xf32>
  return
}

// -----

func.func @more(%x: tensor<2x4xf32>) {
  // expected-error-re @+1 {{{{^}}'step.unpack' op makes 9 elements of 2 pieces of 4{{$}}}}
  %0 = step.unpack %x dim 0 : tensor<2x4xf32> -> tensor<9xf32>
  return
}
