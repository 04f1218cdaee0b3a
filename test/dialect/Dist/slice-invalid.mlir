// RUN: hocket-opt %s --verify-diagnostics --split-input-file
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.slice' op has dim 2 on a value of 2 dimensions; allowed: 0 to 1{{$}}}}
  %0 = dist.slice %x dim 2 over "tp" : tensor<4x6xf32> -> tensor<4x3xf32>
  return
}
// -----
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.slice' op goes over no axis; at least one is needed{{$}}}}
  %0 = dist.slice %x dim 1 over {} : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}
