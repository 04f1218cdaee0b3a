// RUN: hocket-opt %s --verify-diagnostics --split-input-file
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_to_all' op splits and gathers dimension 1; two dimensions are needed{{$}}}}
  %0 = dist.all_to_all %x split 1 gather 1 over "cp" because "why" : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}
// -----
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_to_all' op has gather dim 2 on a value of 2 dimensions; allowed: 0 to 1{{$}}}}
  %0 = dist.all_to_all %x split 1 gather 2 over "cp" because "why" : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}
