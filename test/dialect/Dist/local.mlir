// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// A feed-forward block as each of two ranks computes it. Types of arguments follow from `as`.
// CHECK-LABEL: @megatron
func.func @megatron(%x: tensor<?x4x8xf32>, %w: tensor<8x12xf32>, %v: tensor<12x8xf32>) -> tensor<?x4x8xf32> {
  // CHECK: dist.local over <"tp"=2> (%[[A:.*]] = %{{.*}} : tensor<?x4x8xf32> as invariant, %[[W:.*]] = %{{.*}} : tensor<8x12xf32> as varying(1), %[[V:.*]] = %{{.*}} : tensor<12x8xf32> as varying(0)) -> (tensor<?x4x8xf32> as invariant) {
  %m = dist.local over <"tp"=2> (%a = %x : tensor<?x4x8xf32> as invariant, %u = %w : tensor<8x12xf32> as varying(1), %t = %v : tensor<12x8xf32> as varying(0)) -> (tensor<?x4x8xf32> as invariant) {
    // CHECK-NEXT: %[[R:.*]] = dist.convert %[[A]] over "tp" invariant to replicated : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    %r = dist.convert %a over "tp" invariant to replicated : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    // CHECK-NEXT: linear %[[R]], %[[W]] : tensor<?x4x8xf32>, tensor<8x6xf32> -> tensor<?x4x6xf32>
    %h = linear %r, %u : tensor<?x4x8xf32>, tensor<8x6xf32> -> tensor<?x4x6xf32>
    %g = gelu %h : tensor<?x4x6xf32> -> tensor<?x4x6xf32>
    %o = linear %g, %t : tensor<?x4x6xf32>, tensor<6x8xf32> -> tensor<?x4x8xf32>
    // CHECK: dist.convert %{{.*}} over "tp" partial to invariant by all_reduce : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    %y = dist.convert %o over "tp" partial to invariant by all_reduce : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
    // CHECK-NEXT: return
    return %y : tensor<?x4x8xf32>
  }
  return %m : tensor<?x4x8xf32>
}
// Several axes: one local type each. What is varying over one may be anything over the other.
// CHECK-LABEL: @two_axes
func.func @two_axes(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  // CHECK: dist.local over <"cp"=2, "tp"=3> (%{{.*}} = %{{.*}} : tensor<4x8xf32> as [varying(0), replicated], %{{.*}} = %{{.*}} : tensor<8x6xf32> as [replicated, varying(1)]) -> (tensor<4x6xf32> as [varying(0), varying(1)]) {
  %y = dist.local over <"cp"=2, "tp"=3> (%a = %x : tensor<4x8xf32> as [varying(0), replicated], %u = %w : tensor<8x6xf32> as [replicated, varying(1)]) -> (tensor<4x6xf32> as [varying(0), varying(1)]) {
    %h = linear %a, %u : tensor<2x8xf32>, tensor<8x2xf32> -> tensor<2x2xf32>
    return %h : tensor<2x2xf32>
  } in "h.0" forward
  // CHECK: } in "h.0" forward
  return %y : tensor<4x6xf32>
}
// A derivative by hand: its all_reduce is the transpose of the free conversion, and the other way round.
// CHECK-LABEL: @by_hand
func.func @by_hand(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1)) -> (tensor<4x6xf32> as varying(1)) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    return %h : tensor<4x3xf32>
    // CHECK: } backward (%{{.*}}, %{{.*}}, %{{.*}}) {
  } backward (%a, %u, %dy) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %du = matmul %r, %dy "b h, b f -> h f" : tensor<4x8xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
    %dr = linear transposed %dy, %u : tensor<4x3xf32>, tensor<8x3xf32> -> tensor<4x8xf32>
    %da = dist.convert %dr over "tp" partial to invariant by all_reduce : tensor<4x8xf32> -> tensor<4x8xf32>
    return %da, %du : tensor<4x8xf32>, tensor<8x3xf32>
  }
  return %y : tensor<4x6xf32>
}
// A table split by rows knows where its rows begin.
// CHECK-LABEL: @rows
func.func @rows(%i: tensor<2x3xi32>, %t: tensor<8x4xf32>) -> tensor<2x3x4xf32> {
  %y = dist.local over <"tp"=2> (%ids = %i : tensor<2x3xi32> as invariant, %u = %t : tensor<8x4xf32> as varying(0)) -> (tensor<2x3x4xf32> as partial) {
    %o = dist.offset of 8 over "tp"
    %e = embedding %ids, %u offset %o : tensor<2x3xi32>, tensor<4x4xf32> -> tensor<2x3x4xf32>
    return %e : tensor<2x3x4xf32>
  }
  return %y : tensor<2x3x4xf32>
}
// CHECK-LABEL: @kept
func.func @kept(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: -> (tensor<4xf32> as invariant, tensor<4xf32> as replicated) keep 1 {
  %y, %k = dist.local over <"tp"=2> (%a = %x : tensor<4xf32> as invariant) -> (tensor<4xf32> as invariant, tensor<4xf32> as replicated) keep 1 {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4xf32> -> tensor<4xf32>
    return %a, %r : tensor<4xf32>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
