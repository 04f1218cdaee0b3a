// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0() {
  // CHECK-NEXT: %c5_i64 = arith.constant 5 : i64{{$}}
  %o = arith.constant 5 : i64
  // CHECK-NEXT: %positions = positions : tensor<2x5xi32>{{$}}
  %0 = positions : tensor<2x5xi32>
  // CHECK-NEXT: %positions_0 = positions offset %c5_i64 : tensor<?x5xi32>{{$}}
  %1 = positions offset %o : tensor<?x5xi32>
  return
}

// CHECK-LABEL: nn.block @zigzag(
nn.block @zigzag() {
  %o = arith.constant 4 : i64
  // CHECK: positions zigzag 2 of 8 : tensor<2x8xi32>{{$}}
  %0 = positions zigzag 2 of 8 : tensor<2x8xi32>
  // CHECK-NEXT: positions offset %c4_i64 zigzag 2 of 8 : tensor<2x4xi32>{{$}}
  %1 = positions offset %o zigzag 2 of 8 : tensor<2x4xi32>
  return
}
