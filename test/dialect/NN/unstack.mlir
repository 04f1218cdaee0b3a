// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x2xf32>) {
  // CHECK-NEXT: %unstack_0, %unstack_1 = unstack %x dim 2 : tensor<?x3x2xf32> -> tensor<?x3xf32>, tensor<?x3xf32>{{$}}
  %0, %1 = unstack %x dim 2 : tensor<?x3x2xf32> -> tensor<?x3xf32>, tensor<?x3xf32>
  return
}

// CHECK-LABEL: nn.block @b1(
nn.block @b1(%x: tensor<2xi32>) {
  // CHECK-NEXT: %unstack_0, %unstack_1 = unstack %x dim 0 : tensor<2xi32> -> tensor<i32>, tensor<i32>{{$}}
  %0, %1 = unstack %x dim 0 : tensor<2xi32> -> tensor<i32>, tensor<i32>
  return
}
