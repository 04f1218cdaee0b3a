// RUN: hocket-opt --verify-roundtrip --nn-inline-blocks %s | hocket-opt --verify-roundtrip | FileCheck %s
// RUN: hocket-opt --nn-inline-blocks --mlir-print-debuginfo %s | FileCheck %s --check-prefix=LOC

nn.block @mlp(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %w = param "fc.weight" : tensor<4x8xf32> init normal(0.02)
  %b = param "fc.bias" : tensor<8xf32> init zeros
  %p = param "proj.weight" : tensor<8x4xf32> init normal(0.02)
  %h0 = linear %x, %w : tensor<?x2x4xf32>, tensor<4x8xf32> -> tensor<?x2x8xf32>
  %h1 = add %h0, %b : tensor<?x2x8xf32>, tensor<8xf32> -> tensor<?x2x8xf32>
  %h = gelu %h1 : tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  %y = linear %h, %p : tensor<?x2x8xf32>, tensor<8x4xf32> -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}
nn.block @layer(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %g = param "norm.weight" : tensor<4xf32> init ones
  %n = rms_norm %x, %g : tensor<?x2x4xf32>, tensor<4xf32> -> tensor<?x2x4xf32>
  %m = call @mlp(%n) as "mlp" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  %y = add %x, %m : tensor<?x2x4xf32>, tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  return %y : tensor<?x2x4xf32>
}

// CHECK-LABEL: nn.model @gpt
nn.model @gpt(%tokens: tensor<?x2xi32>, %next: tensor<?x2xi32>) -> (tensor<f32>, tensor<i64>) {
  %wte = param "wte" : tensor<5x4xf32> init normal(0.02)
  // One use of the tied table, then the other.
  // CHECK: %[[X:.*]] = embedding %tokens, %[[WTE:.*]] : {{.*}} in "wte#0"
  %x = embedding %tokens, %wte : tensor<?x2xi32>, tensor<5x4xf32> -> tensor<?x2x4xf32>
  // CHECK: %[[G0:.*]] = param "h.0.norm.weight" : tensor<4xf32> init ones
  // CHECK: %[[N0:.*]] = rms_norm %[[X]], %[[G0]] : {{.*}} in "h.0.norm"
  // CHECK: %[[W0:.*]] = param "h.0.mlp.fc.weight"
  // CHECK: %[[B0:.*]] = param "h.0.mlp.fc.bias"
  // CHECK: %[[P0:.*]] = param "h.0.mlp.proj.weight"
  // CHECK: linear %[[N0]], %[[W0]] : {{.*}} in "h.0.mlp.fc"
  // CHECK: add %{{.*}}, %[[B0]] : {{.*}} in "h.0.mlp.fc"
  // CHECK: gelu {{.*}} in "h.0.mlp"
  // CHECK: %[[M0:.*]] = linear %{{.*}}, %[[P0]] : {{.*}} in "h.0.mlp.proj"
  // CHECK: %[[Y0:.*]] = add %[[X]], %[[M0]] : {{.*}} in "h.0"{{$}}
  // CHECK: rms_norm %[[Y0]], %{{.*}} in "h.1.norm"
  // CHECK: param "h.1.mlp.fc.weight"
  // CHECK: %[[Y1:.*]] = add %[[Y0]], %{{.*}} in "h.1"{{$}}
  %y = repeat @layer(%x) 2 as "h" : tensor<?x2x4xf32> -> tensor<?x2x4xf32>
  // CHECK: linear transposed %[[Y1]], %[[WTE]] : {{.*}} in "wte#1"
  %logits = linear transposed %y, %wte : tensor<?x2x4xf32>, tensor<5x4xf32> -> tensor<?x2x5xf32>
  // No group and no call: with the op that made its last operand.
  // CHECK: cross_entropy {{.*}} in "wte#1"
  %sum, %count = cross_entropy %logits, %next : tensor<?x2x5xf32>, tensor<?x2xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
// CHECK-NOT: call
// CHECK-NOT: repeat

// The gelu of the second layer: named by its path, written in @mlp, called by @layer, called by @gpt.
// LOC: gelu {{.*}} in "h.1.mlp" loc(#[[AT:.*]])
// LOC-DAG: #[[GELU:.*]] = loc("{{.*}}inline-blocks.mlir":10:8)
// LOC-DAG: #[[CALL:.*]] = loc("{{.*}}inline-blocks.mlir":17:8)
// LOC-DAG: #[[REPEAT:.*]] = loc("{{.*}}inline-blocks.mlir":41:8)
// LOC-DAG: #[[INNER:.*]] = loc(callsite(#[[GELU]] at #[[CALL]]))
// LOC-DAG: #[[OUTER:.*]] = loc(callsite(#[[INNER]] at #[[REPEAT]]))
// LOC-DAG: #[[AT]] = loc("h.1.mlp"(#[[OUTER]]))
