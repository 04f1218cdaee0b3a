// RUN: hocket-opt %s --verify-diagnostics --split-input-file
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.reduce_scatter' op has dim 5 on a value of 2 dimensions; allowed: 0 to 1{{$}}}}
  %0 = dist.reduce_scatter sum %x dim 5 over "dp" because "why" : tensor<4x6xf32> -> tensor<4x3xf32>
  return
}
// -----
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.reduce_scatter' op has a shard of 8 elements of a dimension 1 of 6{{$}}}}
  %0 = dist.reduce_scatter sum %x dim 1 over "dp" because "why" : tensor<4x6xf32> -> tensor<4x8xf32>
  return
}
// -----
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.reduce_scatter' op changes dimension 0 from 4 to 2{{$}}}}
  %0 = dist.reduce_scatter sum %x dim 1 over "dp" because "why" : tensor<4x6xf32> -> tensor<2x3xf32>
  return
}
