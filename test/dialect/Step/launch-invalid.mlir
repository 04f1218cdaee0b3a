// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @both(%a: memref<4xf32>) {
  // expected-error-re @+1 {{{{^}}'step.launch' op has 1 results and writes 1 buffers; it must do one of both{{$}}}}
  %0 = step.launch @k(%a) outs(%a : memref<4xf32>) : (memref<4xf32>) -> (tensor<4xf32>)
  return
}

// -----

func.func @none(%a: memref<4xf32>) {
  // expected-error-re @+1 {{{{^}}'step.launch' op has 0 results and writes 0 buffers; it must do one of both{{$}}}}
  step.launch @k(%a) : (memref<4xf32>) -> ()
  return
}

// -----

func.func @mixed(%a: tensor<4xf32>, %b: memref<4xf32>) {
  // expected-error-re @+1 {{{{^}}'step.launch' op reads a tensor and writes buffers{{$}}}}
  step.launch @k(%a) outs(%b : memref<4xf32>) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @number(%a: i64) {
  // expected-error-re @+1 {{{{^}}'step.launch' op reads 'i64', expected a tensor or a buffer{{$}}}}
  %0 = step.launch @k(%a) : (i64) -> (tensor<4xf32>)
  return
}
