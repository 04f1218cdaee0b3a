// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// b may lack leading dimensions.

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%a: tensor<?x3x4xf32>, %b: tensor<4xf32>) {
  // CHECK-NEXT: %add = add %a, %a : tensor<?x3x4xf32>, tensor<?x3x4xf32> -> tensor<?x3x4xf32>{{$}}
  %0 = add %a, %a : tensor<?x3x4xf32>, tensor<?x3x4xf32> -> tensor<?x3x4xf32>
  // CHECK-NEXT: %add_0 = add %a, %b : tensor<?x3x4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>{{$}}
  %1 = add %a, %b : tensor<?x3x4xf32>, tensor<4xf32> -> tensor<?x3x4xf32>
  return
}

// CHECK-LABEL: nn.block @b1(
nn.block @b1(%a: tensor<3xi64>, %b: tensor<i64>) {
  // CHECK-NEXT: %add = add %a, %b : tensor<3xi64>, tensor<i64> -> tensor<3xi64>{{$}}
  %0 = add %a, %b : tensor<3xi64>, tensor<i64> -> tensor<3xi64>
  return
}
