// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @b0(
nn.block @b0(%x: tensor<?x3x7xf32>) {
  // CHECK-NEXT: %row_max = row_max %x : tensor<?x3x7xf32> -> tensor<?x3xf32>{{$}}
  %0 = row_max %x : tensor<?x3x7xf32> -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: nn.block @widened(
nn.block @widened(%x: tensor<2x3xbf16>) {
  // CHECK-NEXT: row_max %x : tensor<2x3xbf16> -> tensor<2xf32>{{$}}
  %0 = row_max %x : tensor<2x3xbf16> -> tensor<2xf32>
  return
}
