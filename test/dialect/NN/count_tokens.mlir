// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%i: tensor<4x2x3xi32>) {
  // CHECK-NEXT: %count_tokens = count_tokens %i : tensor<4x2x3xi32> -> tensor<i64>{{$}}
  %0 = count_tokens %i : tensor<4x2x3xi32> -> tensor<i64>
  return
}
