// RUN: hocket-opt %s --codegen-cuda | grep -o "hocket.bytes = .*" | FileCheck %s
// The bytes of a kernel are no more than it must move: of a table, of experts' places, of a bucket only what is taken.

// ids, 8 rows of the table's 1000, the result
// CHECK: hocket.bytes = 8224 : i64
func.func private @embedding(%ids: tensor<1x8xi32>, %table: tensor<1000x128xf32>) -> tensor<1x8x128xf32> {
  %y = nn.embedding %ids, %table : tensor<1x8xi32>, tensor<1000x128xf32> -> tensor<1x8x128xf32>
  return %y : tensor<1x8x128xf32>
}
// a row for each of 16 choices, the choices, 8 rows; no tokens
// CHECK-NEXT: hocket.bytes = 12352 : i64
func.func private @combine(%x: tensor<4x1x20x128xf32>, %slots: tensor<1x8x2xi32>, %tokens: tensor<1x4x20xi32>) -> tensor<1x8x128xf32> {
  %y = nn.combine %x by %slots, %tokens : tensor<4x1x20x128xf32>, tensor<1x8x2xi32>, tensor<1x4x20xi32> -> tensor<1x8x128xf32>
  return %y : tensor<1x8x128xf32>
}
// 8 rows, 80 tokens, 80 rows; no choices
// CHECK-NEXT: hocket.bytes = 45376 : i64
func.func private @dispatch(%x: tensor<1x8x128xf32>, %slots: tensor<1x8x2xi32>, %tokens: tensor<1x4x20xi32>) -> tensor<4x1x20x128xf32> {
  %y = nn.dispatch %x by %slots, %tokens : tensor<1x8x128xf32>, tensor<1x8x2xi32>, tensor<1x4x20xi32> -> tensor<4x1x20x128xf32>
  return %y : tensor<4x1x20x128xf32>
}
// what is cut out, and its copy
// CHECK-NEXT: hocket.bytes = 1024 : i64
func.func private @part(%x: tensor<64x128xf32>) -> tensor<1x128xf32> {
  %y = nn.part %x dim 0 from 5 : tensor<64x128xf32> -> tensor<1x128xf32>
  return %y : tensor<1x128xf32>
}
// what is placed, twice; nothing of the bucket's other elements
// CHECK-NEXT: hocket.bytes = 128 : i64
func.func private @place(%x: tensor<16xf32>, %bucket: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %y = step.place %x pieces 1 first 8 in %bucket : tensor<16xf32>, tensor<1x64xf32> -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}
