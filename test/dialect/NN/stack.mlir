// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%a: tensor<?x3xf32>) {
  // CHECK-NEXT: %stack = stack %a, %a dim 1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x2x3xf32>{{$}}
  %0 = stack %a, %a dim 1 : tensor<?x3xf32>, tensor<?x3xf32> -> tensor<?x2x3xf32>
  return
}
