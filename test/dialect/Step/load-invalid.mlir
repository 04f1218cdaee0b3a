// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @shape(%b: memref<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}'step.load' op value of type 'tensor<8x4xf32>', the buffer holds 'memref<4x8xf32>'{{$}}}}
  %0 = step.load %b : memref<4x8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @element(%b: memref<4xf32>) {
  // expected-error-re @+1 {{{{^}}'step.load' op value of type 'tensor<4xi32>', the buffer holds 'memref<4xf32>'{{$}}}}
  %0 = step.load %b : memref<4xf32> -> tensor<4xi32>
  return
}
