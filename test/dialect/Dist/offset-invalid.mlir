// RUN: hocket-opt %s --verify-diagnostics --split-input-file
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.offset' op speaks of a dimension of 0 elements; at least 1 is needed{{$}}}}
  %0 = dist.offset of 0 over "tp"
  return
}
