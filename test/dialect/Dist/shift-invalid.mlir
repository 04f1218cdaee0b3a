// RUN: hocket-opt %s --verify-diagnostics --split-input-file
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.shift' op changes dimension 1 from 6 to 3{{$}}}}
  %0 = dist.shift %x over "cp" because "why" : tensor<4x6xf32> -> tensor<4x3xf32>
  return
}
// -----
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error-re @+2 {{{{^}}'dist.shift' op goes over no axis; at least one is needed{{$}}}}
  // expected-error-re @+1 {{{{^}}'dist.shift' op has an empty cause; name the tactic and the op that need it{{$}}}}
  %0 = dist.shift %x over {} because "" : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}
