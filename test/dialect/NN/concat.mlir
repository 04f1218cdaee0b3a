// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%a: tensor<?x3x2xf32>, %b: tensor<?x3x5xf32>) {
  // CHECK-NEXT: %concat = concat %a, %b dim 2 : tensor<?x3x2xf32>, tensor<?x3x5xf32> -> tensor<?x3x7xf32>{{$}}
  %0 = concat %a, %b dim 2 : tensor<?x3x2xf32>, tensor<?x3x5xf32> -> tensor<?x3x7xf32>
  return
}
