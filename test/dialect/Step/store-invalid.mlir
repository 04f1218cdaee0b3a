// RUN: hocket-opt %s --verify-diagnostics

func.func @shape(%v: tensor<4xf32>, %b: memref<8xf32>) {
  // expected-error-re @+1 {{{{^}}'step.store' op value of type 'tensor<4xf32>', the buffer holds 'memref<8xf32>'{{$}}}}
  step.store %v, %b : tensor<4xf32>, memref<8xf32>
  return
}
