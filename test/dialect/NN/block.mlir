// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// The arguments of a block keep their names; values inside name themselves by their weight.

// CHECK-LABEL: nn.block @layer(%x: tensor<?x4x8xf32>, %pos: tensor<?x4xi32>) -> tensor<?x4x8xf32> {
nn.block @layer(%x: tensor<?x4x8xf32>, %pos: tensor<?x4xi32>) -> tensor<?x4x8xf32> {
  // CHECK-NEXT: %attn.proj.weight = param "attn.proj.weight" : tensor<8x8xf32> init normal(0.02)
  %w = param "attn.proj.weight" : tensor<8x8xf32> init normal(0.02)
  // CHECK-NEXT: %attn_proj = linear %x, %attn.proj.weight
  %y = linear %x, %w : tensor<?x4x8xf32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  // CHECK-NEXT: return %attn_proj : tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// CHECK-LABEL: nn.block @pair(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
nn.block @pair(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  return %a, %a : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: nn.block @with_attributes(%a: tensor<3xf32>) -> tensor<3xf32> attributes {note = "kept"} {
nn.block @with_attributes(%a: tensor<3xf32>) -> tensor<3xf32> attributes {note = "kept"} {
  return %a : tensor<3xf32>
}
