// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// The types of the results are printed where they are not those of the arguments.

nn.block @same(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
nn.block @first(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
nn.block @both(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  return %x, %x : tensor<2xf32>, tensor<2xf32>
}
nn.block @sink(%x: tensor<2xf32>) {
  return
}
// CHECK-LABEL: nn.block @uses
nn.block @uses(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: %h3 = call @same(%a) as "h.3" : tensor<2xf32>
  %0 = call @same(%a) as "h.3" : tensor<2xf32>
  // CHECK-NEXT: %h4 = call @same(%h3) as "h.4" : tensor<2xf32>
  %1 = call @same(%0) as "h.4" : tensor<2xf32> -> tensor<2xf32>
  // CHECK-NEXT: %f = call @first(%h4, %b) as "f" : tensor<2xf32>, tensor<3xf32> -> tensor<2xf32>
  %2 = call @first(%1, %b) as "f" : tensor<2xf32>, tensor<3xf32> -> (tensor<2xf32>)
  // CHECK-NEXT: %two_0, %two_1 = call @both(%f) as "two" : tensor<2xf32> -> tensor<2xf32>, tensor<2xf32>
  %3:2 = call @both(%2) as "two" : tensor<2xf32> -> tensor<2xf32>, tensor<2xf32>
  // CHECK-NEXT: call @sink(%two_1) as "s" : tensor<2xf32> -> ()
  call @sink(%3#1) as "s" : tensor<2xf32> -> ()
  return %3#0 : tensor<2xf32>
}
