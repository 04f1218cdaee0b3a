// Transfers of offloading, on streams of their own: what comes from the host a layer ahead of use, in a body that runs once a step a
// piece ahead; what goes there is awaited when a layer's bytes have left after it.
// RUN: hocket-opt %s --verify-roundtrip --step-overlap | hocket-opt | FileCheck %s --enable-var-scope
// And with memory planned: what is in flight keeps its place, and that is proved.
// RUN: hocket-opt %s --step-overlap --step-plan-memory --step-verify-program | FileCheck %s --check-prefix=PLAN

nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<4x4xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<4x4xf32> -> tensor<?x4x4xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x4xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @m<"dp"=1>
dist.plan @p for @g on @m {
  batch over "dp" microbatch 1 sequences
  offload activations
  offload optimizer_state
}
func.func private @one(tensor<16xf32>) -> tensor<16xf32>
func.func private @two(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> attributes {hocket.in_place = array<i64: 0, 0>}
func.func private @adam(tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {hocket.in_place = array<i64: 0, 0, 1, 1>}

step.job @j of @g with @r under @p rows 1 microbatches 1 sequence 4 vocabulary 4 parameters 16 stages 1 layers ["h.0", "h.1", "h.2"]
step.program @s under @p stage 0 computes ["h.0", "h.1", "h.2"] microbatches 1 {
  %x = buffer input "x" in microbatch state input : memref<16xf32>
  %wa = buffer parameter "a" in arena state param init zeros : memref<16xf32>
  %wb = buffer parameter "b" in arena state param init zeros : memref<16xf32>
  %wc = buffer parameter "c" in arena state param init zeros : memref<16xf32>
  %g = buffer accumulator "g" in arena state accumulator : memref<16xf32>
  %ma = buffer optimizer_state "a.m" in host state first_moment init zeros : memref<16xf32>
  %mb = buffer optimizer_state "b.m" in host state first_moment init zeros : memref<16xf32>
  %mc = buffer optimizer_state "c.m" in host state first_moment init zeros : memref<16xf32>
  %h0 = buffer activation "h0" in host_slot : memref<16xf32>
  %h1a = buffer activation "h1a" in host_slot : memref<16xf32>
  %h1b = buffer activation "h1b" in host_slot : memref<16xf32>
  %h2 = buffer activation "h2" in host_slot : memref<16xf32>
  body begin {
    %z = load %wa : memref<16xf32> -> tensor<16xf32>
    %y = launch @one(%z) : (tensor<16xf32>) -> (tensor<16xf32>)
    store %y, %g : tensor<16xf32>, memref<16xf32>
  }
  // h.1 leaves two values: two may be under way. The third and the fourth wait for the first and the second.
  // CHECK: body forward
  // CHECK: %[[Y0:.*]] = launch @one(%{{.*}}) {{.*}} in "h.0"
  // CHECK-NEXT: %[[T0:.*]] = transfer %[[Y0]] on "offload"
  // CHECK-NEXT: %[[YA:.*]] = launch @one(%[[Y0]])
  // CHECK-NEXT: %[[TA:.*]] = transfer %[[YA]] on "offload"
  // CHECK-NEXT: %[[YB:.*]] = launch @one(%[[YA]])
  // CHECK-NEXT: await "offload" 1
  // CHECK-NEXT: store %[[T0]], %h0
  // CHECK-NEXT: %[[TB:.*]] = transfer %[[YB]] on "offload"
  // CHECK-NEXT: %[[Y2:.*]] = launch @one(%[[YB]])
  // CHECK-NEXT: await "offload" 2
  // CHECK-NEXT: store %[[TA]], %h1a
  // CHECK-NEXT: %[[T2:.*]] = transfer %[[Y2]] on "offload"
  // CHECK-NEXT: launch @one(%[[Y2]])
  // CHECK-NEXT: store %{{.*}}, %g
  // CHECK-NEXT: await "offload" 3
  // CHECK-NEXT: store %[[TB]], %h1b
  // CHECK-NEXT: await "offload" 4
  // CHECK-NEXT: store %[[T2]], %h2
  // CHECK-NEXT: }
  // Of a value that leaves nobody gets the place: @one of h.1 makes its result elsewhere.
  // PLAN: body forward
  // PLAN-NEXT: launch @one(%{{.*}}) outs(%[[A:.*]] : memref<16xf32>) {{.*}} in "h.0"
  // PLAN-NEXT: transfer %[[A]] outs(%h0 : memref<16xf32>) on "offload"
  // PLAN-NEXT: launch @one(%[[A]])
  body forward {
    %x0 = load %x : memref<16xf32> -> tensor<16xf32>
    %y0 = launch @one(%x0) : (tensor<16xf32>) -> (tensor<16xf32>) in "h.0"
    %ya = launch @one(%y0) : (tensor<16xf32>) -> (tensor<16xf32>) in "h.1"
    %t0 = transfer %y0 because "offload activations" : tensor<16xf32> -> (tensor<16xf32>) in "h.0"
    store %t0, %h0 : tensor<16xf32>, memref<16xf32>
    %ta = transfer %ya because "offload activations" : tensor<16xf32> -> (tensor<16xf32>) in "h.1"
    store %ta, %h1a : tensor<16xf32>, memref<16xf32>
    %yb = launch @one(%ya) : (tensor<16xf32>) -> (tensor<16xf32>) in "h.1"
    %tb = transfer %yb because "offload activations" : tensor<16xf32> -> (tensor<16xf32>) in "h.1"
    store %tb, %h1b : tensor<16xf32>, memref<16xf32>
    %y2 = launch @one(%yb) : (tensor<16xf32>) -> (tensor<16xf32>) in "h.2"
    %t2 = transfer %y2 because "offload activations" : tensor<16xf32> -> (tensor<16xf32>) in "h.2"
    store %t2, %h2 : tensor<16xf32>, memref<16xf32>
    %out = launch @one(%y2) : (tensor<16xf32>) -> (tensor<16xf32>) in "head"
    store %out, %g : tensor<16xf32>, memref<16xf32>
  }
  // The first layer's come with the body, each other one with the use of what lies a layer's bytes before it: h.1's two with the use of
  // h.2's one, h.0's with that of h.1's second.
  // CHECK: body backward
  // CHECK: %[[H2:.*]] = transfer %h2.value on "fetch"
  // CHECK-NEXT: %[[D:.*]] = launch @one({{.*}} in "head" backward
  // CHECK-NEXT: load %h1b
  // CHECK-NEXT: %[[HB:.*]] = transfer %h1b.value on "fetch"
  // CHECK-NEXT: load %h1a
  // CHECK-NEXT: %[[HA:.*]] = transfer %h1a.value on "fetch"
  // CHECK-NEXT: await "fetch" 1
  // CHECK-NEXT: launch @two(%[[H2]]
  // CHECK-NEXT: await "fetch" 2
  // CHECK-NEXT: launch @two(%[[HB]]
  // CHECK-NEXT: load %h0
  // CHECK-NEXT: %[[H0:.*]] = transfer %h0.value on "fetch"
  // CHECK-NEXT: await "fetch" 3
  // CHECK-NEXT: launch @two(%[[HA]]
  // CHECK-NEXT: await "fetch" 4
  // CHECK-NEXT: launch @two(%[[H0]]
  body backward {
    %g0 = load %g : memref<16xf32> -> tensor<16xf32>
    %l2 = load %h2 : memref<16xf32> -> tensor<16xf32>
    %d = launch @one(%g0) : (tensor<16xf32>) -> (tensor<16xf32>) in "head" backward
    %b2 = transfer %l2 because "offload activations" : tensor<16xf32> -> (tensor<16xf32>) in "h.2" backward
    %d2 = launch @two(%b2, %d) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "h.2" backward
    %lb = load %h1b : memref<16xf32> -> tensor<16xf32>
    %bb = transfer %lb because "offload activations" : tensor<16xf32> -> (tensor<16xf32>) in "h.1" backward
    %db = launch @two(%bb, %d2) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "h.1" backward
    %la = load %h1a : memref<16xf32> -> tensor<16xf32>
    %ba = transfer %la because "offload activations" : tensor<16xf32> -> (tensor<16xf32>) in "h.1" backward
    %da = launch @two(%ba, %db) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "h.1" backward
    %l0 = load %h0 : memref<16xf32> -> tensor<16xf32>
    %b0 = transfer %l0 because "offload activations" : tensor<16xf32> -> (tensor<16xf32>) in "h.0" backward
    %d0 = launch @two(%b0, %da) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "h.0" backward
    store %d0, %g : tensor<16xf32>, memref<16xf32>
  }
  // One piece is worked on while the next one comes and the one before it leaves.
  // CHECK: body update
  // CHECK: %[[MA:.*]] = transfer %a.m.value on "fetch"
  // CHECK: %[[MB:.*]] = transfer %b.m.value on "fetch"
  // CHECK-NEXT: await "fetch" 1
  // CHECK-NEXT: %{{.*}}, %[[NA:.*]] = launch @adam(%{{.*}}, %[[MA]], %{{.*}})
  // CHECK-NEXT: %[[OA:.*]] = transfer %[[NA]] on "offload"
  // CHECK: %[[MC:.*]] = transfer %c.m.value on "fetch"
  // CHECK-NEXT: await "fetch" 2
  // CHECK-NEXT: %{{.*}}, %[[NB:.*]] = launch @adam(%{{.*}}, %[[MB]], %{{.*}})
  // CHECK-NEXT: await "offload" 1
  // CHECK-NEXT: store %[[OA]], %a.m
  // CHECK-NEXT: transfer %[[NB]] on "offload"
  // PLAN: body update
  // PLAN-NEXT: transfer %a.m outs(%[[P:.*]] : memref<16xf32>) on "fetch"
  // PLAN-NEXT: transfer %b.m outs(%[[Q:.*]] : memref<16xf32>) on "fetch"
  // PLAN-NEXT: await "fetch" 1
  // PLAN-NEXT: launch @adam(%a, %[[P]], %g) outs(%a, %[[P2:.*]] : memref<16xf32>, memref<16xf32>)
  // PLAN-NEXT: transfer %[[P2]] outs(%a.m : memref<16xf32>) on "offload"
  body update {
    %g0 = load %g : memref<16xf32> -> tensor<16xf32>
    %a = load %wa : memref<16xf32> -> tensor<16xf32>
    %la = load %ma : memref<16xf32> -> tensor<16xf32>
    %am = transfer %la because "offload optimizer_state" : tensor<16xf32> -> (tensor<16xf32>) in "a"
    %na:2 = launch @adam(%a, %am, %g0) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) in "a"
    store %na#0, %wa : tensor<16xf32>, memref<16xf32>
    %oa = transfer %na#1 because "offload optimizer_state" : tensor<16xf32> -> (tensor<16xf32>) in "a"
    store %oa, %ma : tensor<16xf32>, memref<16xf32>
    %b = load %wb : memref<16xf32> -> tensor<16xf32>
    %lb = load %mb : memref<16xf32> -> tensor<16xf32>
    %bm = transfer %lb because "offload optimizer_state" : tensor<16xf32> -> (tensor<16xf32>) in "b"
    %nb:2 = launch @adam(%b, %bm, %g0) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) in "b"
    store %nb#0, %wb : tensor<16xf32>, memref<16xf32>
    %ob = transfer %nb#1 because "offload optimizer_state" : tensor<16xf32> -> (tensor<16xf32>) in "b"
    store %ob, %mb : tensor<16xf32>, memref<16xf32>
    %c = load %wc : memref<16xf32> -> tensor<16xf32>
    %lc = load %mc : memref<16xf32> -> tensor<16xf32>
    %cm = transfer %lc because "offload optimizer_state" : tensor<16xf32> -> (tensor<16xf32>) in "c"
    %nc:2 = launch @adam(%c, %cm, %g0) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) in "c"
    store %nc#0, %wc : tensor<16xf32>, memref<16xf32>
    %oc = transfer %nc#1 because "offload optimizer_state" : tensor<16xf32> -> (tensor<16xf32>) in "c"
    store %oc, %mc : tensor<16xf32>, memref<16xf32>
  }
  schedule "train" <streams "compute" {
    compute: begin
    compute: forward microbatch 0 slot 0
    compute: backward microbatch 0 slot 0
    compute: update
  }>
}
