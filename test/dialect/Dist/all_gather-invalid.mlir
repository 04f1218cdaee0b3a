// RUN: hocket-opt %s --verify-diagnostics --split-input-file
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_gather' op has dim -1 on a value of 2 dimensions; allowed: 0 to 1{{$}}}}
  %0 = dist.all_gather %x dim -1 over "dp" because "why" : tensor<4x6xf32> -> tensor<8x6xf32>
  return
}
// -----
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_gather' op has a shard of 4 elements of a dimension 0 of 2{{$}}}}
  %0 = dist.all_gather %x dim 0 over "dp" because "why" : tensor<4x6xf32> -> tensor<2x6xf32>
  return
}
// -----
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_gather' op makes 1 dimensions from 2{{$}}}}
  %0 = dist.all_gather %x dim 0 over "dp" because "why" : tensor<4x6xf32> -> tensor<8xf32>
  return
}
