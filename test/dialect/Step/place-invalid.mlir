// RUN: hocket-opt %s --verify-diagnostics --split-input-file
func.func @f(%a: tensor<2x3xf32>) {
  // expected-error-re @+1 {{{{^}}'step.place' op takes elements 15 to 18 of pieces of 17{{$}}}}
  %0 = step.place %a pieces 2 first 15 : tensor<2x3xf32> -> tensor<2x17xf32>
  return
}
// -----
func.func @f(%a: tensor<2x3xf32>) {
  // expected-error-re @+1 {{{{^}}'step.place' op has 4 pieces; 34 elements of the bucket and 6 in it must both be a multiple{{$}}}}
  %0 = step.place %a pieces 4 first 0 : tensor<2x3xf32> -> tensor<2x17xf32>
  return
}
// -----
func.func @f(%a: tensor<2x3xbf16>) {
  // expected-error-re @+1 {{{{^}}'step.place' op has 'bf16' in a bucket of 'f32'{{$}}}}
  %0 = step.place %a pieces 2 first 0 : tensor<2x3xbf16> -> tensor<2x17xf32>
  return
}
// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<34xf32>) {
  // expected-error-re @+1 {{{{^}}'step.place' op makes 'tensor<2x17xf32>' of a bucket 'tensor<34xf32>'{{$}}}}
  %0 = step.place %a pieces 2 first 0 in %b : tensor<2x3xf32>, tensor<34xf32> -> tensor<2x17xf32>
  return
}
