// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

nn.block @same(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  return %x : tensor<?x2xf32>
}
nn.block @at(%x: tensor<?x2xf32>, %pos: tensor<?xi32>) -> tensor<?x2xf32> {
  return %x : tensor<?x2xf32>
}
// CHECK-LABEL: nn.block @uses
nn.block @uses(%a: tensor<?x2xf32>, %pos: tensor<?xi32>) -> tensor<?x2xf32> {
  // CHECK-NEXT: %h = repeat @same(%a) 12 as "h" : tensor<?x2xf32>
  %0 = repeat @same(%a) 12 as "h" : tensor<?x2xf32>
  // CHECK-NEXT: %g = repeat @at(%h, %pos) 1 as "g" : tensor<?x2xf32>, tensor<?xi32> -> tensor<?x2xf32>
  %1 = repeat @at(%0, %pos) 1 as "g" : tensor<?x2xf32>, tensor<?xi32> -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
