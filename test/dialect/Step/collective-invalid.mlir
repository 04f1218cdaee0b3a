// RUN: hocket-opt %s --verify-diagnostics --split-input-file

func.func @axes(%a: tensor<8xf32>) {
  // expected-error-re @+1 {{{{^}}'step.collective' op names no mesh axis{{$}}}}
  %0 = step.collective all_reduce sum %a over {} because "x" : tensor<8xf32> -> (tensor<8xf32>)
  return
}

// -----

func.func @size(%a: tensor<8xf32>) {
  // expected-error-re @+1 {{{{^}}'step.collective' op all_reduce makes 'tensor<4xf32>' of 'tensor<8xf32>'{{$}}}}
  %0 = step.collective all_reduce sum %a over "tp" because "x" : tensor<8xf32> -> (tensor<4xf32>)
  return
}

// -----

func.func @scatter(%a: tensor<8xf32>) {
  // expected-error-re @+1 {{{{^}}'step.collective' op reduce_scatter makes 'tensor<3xf32>' of 'tensor<8xf32>'{{$}}}}
  %0 = step.collective reduce_scatter sum %a over "tp" because "x" : tensor<8xf32> -> (tensor<3xf32>)
  return
}

// -----

func.func @several(%a: tensor<8xf32>) {
  // expected-error-re @+1 {{{{^}}'step.collective' op makes 2 values, expected 1{{$}}}}
  %0:2 = step.collective all_reduce sum %a over "tp" because "x" : tensor<8xf32> -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @stream(%a: tensor<8xf32>) {
  // expected-error-re @+1 {{{{^}}'step.collective' op is on stream "compute", expected the name of a stream that does not compute{{$}}}}
  %0 = step.collective all_reduce sum %a over "tp" on "compute" because "x" : tensor<8xf32> -> (tensor<8xf32>)
  return
}
