// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s

// CHECK-LABEL: nn.block @nothing
nn.block @nothing(%x: tensor<2xf32>) {
  // CHECK-NEXT: {{^}}  return{{$}}
  return
}
// CHECK-LABEL: nn.block @two
nn.block @two(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK-NEXT: return %x, %x : tensor<2xf32>, tensor<2xf32>
  return %x, %x : tensor<2xf32>, tensor<2xf32>
}
