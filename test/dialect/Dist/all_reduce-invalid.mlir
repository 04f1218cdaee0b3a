// RUN: hocket-opt %s --verify-diagnostics --split-input-file
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op goes over no axis; at least one is needed{{$}}}}
  %0 = dist.all_reduce sum %x over {} because "why" : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}
// -----
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op has an empty cause; name the tactic and the op that need it{{$}}}}
  %0 = dist.all_reduce sum %x over "tp" because "" : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}
// -----
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op changes dimension 1 from 4 to 2{{$}}}}
  %0 = dist.all_reduce sum %x over "tp" because "why" : tensor<2x4xf32> -> tensor<2x2xf32>
  return
}
// -----
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op makes elements of 'f64' from elements of 'f32'{{$}}}}
  %0 = dist.all_reduce sum %x over "tp" because "why" : tensor<2x4xf32> -> tensor<2x4xf64>
  return
}
// -----
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op has 2 operands and 1 results; each operand has one{{$}}}}
  %0 = dist.all_reduce sum %x, %x over "tp" because "why" : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  return
}
// -----
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.all_reduce' op names stage -1; stages count from 0{{$}}}}
  %0 = dist.all_reduce sum %x over "pp" stages [-1] because "why" : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}
// -----
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.all_reduce' expected how values are joined: sum, max or min{{$}}}}
  %0 = dist.all_reduce mean %x over "tp" because "why" : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}
