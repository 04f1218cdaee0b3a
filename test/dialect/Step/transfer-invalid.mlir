// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @type(%a: tensor<8xf32>) {
  // expected-error-re @+1 {{{{^}}'step.transfer' op makes 'tensor<4xf32>' of 'tensor<8xf32>', expected the same type{{$}}}}
  %0 = step.transfer %a because "x" : tensor<8xf32> -> (tensor<4xf32>)
  return
}

// -----

func.func @stream(%a: tensor<8xf32>) {
  // expected-error-re @+1 {{{{^}}'step.transfer' op is on stream "compute", expected the name of a stream that does not compute{{$}}}}
  %0 = step.transfer %a on "compute" because "x" : tensor<8xf32> -> (tensor<8xf32>)
  return
}

// -----

func.func @form(%a: memref<8xf32>) {
  // expected-error-re @+1 {{{{^}}'step.transfer' op reads a buffer and makes tensors{{$}}}}
  %0 = step.transfer %a because "x" : memref<8xf32> -> (tensor<8xf32>)
  return
}
