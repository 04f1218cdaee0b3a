// RUN: hocket-opt %s --verify-diagnostics --split-input-file
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.mask' op masks a dimension of 0 elements; at least 1 is needed{{$}}}}
  %0 = dist.mask %x dim 1 of 0 over "tp" with 0.0 : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}
// -----
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.mask' op changes dimension 1 from 6 to 3{{$}}}}
  %0 = dist.mask %x dim 1 of 6 over "tp" with 0.0 : tensor<4x6xf32> -> tensor<4x3xf32>
  return
}
