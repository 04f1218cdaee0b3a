// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x7xf32>, %m: tensor<?x3xf32>) {
  // CHECK-NEXT: %row_sum_exp = row_sum_exp %x, %m : tensor<?x3x7xf32>, tensor<?x3xf32> -> tensor<?x3xf32>{{$}}
  %0 = row_sum_exp %x, %m : tensor<?x3x7xf32>, tensor<?x3xf32> -> tensor<?x3xf32>
  return
}
