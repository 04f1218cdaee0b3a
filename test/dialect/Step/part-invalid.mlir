// RUN: hocket-opt %s --verify-diagnostics --split-input-file
func.func @f(%a: tensor<2x17xf32>) {
  // expected-error-re @+1 {{{{^}}'step.part' op takes elements 15 to 18 of pieces of 17{{$}}}}
  %0 = step.part %a pieces 2 first 15 : tensor<2x17xf32> -> tensor<2x3xf32>
  return
}
// -----
func.func @f(%a: tensor<2x17xf32>) {
  // expected-error-re @+1 {{{{^}}'step.part' op has 0 pieces; 34 elements of the bucket and 6 in it must both be a multiple{{$}}}}
  %0 = step.part %a pieces 0 first 0 : tensor<2x17xf32> -> tensor<2x3xf32>
  return
}
