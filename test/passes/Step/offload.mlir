// What offload tactics name moves to the host's memory: copied out where it is stored, in before its first use. Of `least` bytes on.
// RUN: hocket-opt %s --step-offload="least=64" | hocket-opt --verify-roundtrip | FileCheck %s
// RUN: hocket-opt %s --step-offload="least=64" --step-plan-memory --step-verify-program | FileCheck %s --check-prefix PLANNED

nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<4x4xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<4x4xf32> -> tensor<?x4x4xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x4xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @m<"dp"=1>
dist.plan @all for @g on @m {
  batch over "dp" microbatch 1 sequences
  offload activations "h.*"
  offload optimizer_state
  offload parameters "w"
}
func.func private @k_one(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func private @k_two(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
func.func private @k_zero() -> tensor<4x4xf32>
func.func private @k_half(tensor<4x4xf32>) -> tensor<4x2xf32>
func.func private @k_sum(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> attributes {hocket.in_place = array<i64: 0, 0>}
func.func private @k_adam(tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {hocket.in_place = array<i64: 0, 0, 1, 1>}

// Device: b (128 bytes with its moment would be), the accumulator, the input; three values of workspace; two slots of 64.
// Host: the parameter, the moment, then two slots.
// PLANNED-LABEL: step.program @s
// PLANNED-SAME: arena 640 slots 2 of 128 at 384 host 256 slots of 64 at 128 {
step.job @j of @g with @r under @all rows 1 microbatches 2 sequence 4 vocabulary 4 parameters 16 stages 1 layers ["h.0", "h.1"]
// CHECK-LABEL: step.program @s
step.program @s under @all stage 0 computes ["h.0", "h.1"] microbatches 2 {
  // CHECK: buffer parameter "w" in host state param
  %w = buffer parameter "w" in arena state param init zeros : memref<4x4xf32>
  // CHECK: buffer optimizer_state "w.m" in host state first_moment
  %m = buffer optimizer_state "w.m" in arena state first_moment init zeros : memref<4x4xf32>
  %acc = buffer accumulator "w.acc" in arena state accumulator : memref<4x4xf32>
  %x = buffer input "x" in microbatch state input : memref<4x4xf32>
  // CHECK: buffer activation "h0" in host_slot :
  %h0 = buffer activation "h0" in slot : memref<4x4xf32>
  // Not of a layer that is named; too small; made by backward.
  // CHECK: buffer activation "head" in slot :
  %head = buffer activation "head" in slot : memref<4x4xf32>
  // CHECK: buffer activation "small" in slot :
  %small = buffer activation "small" in slot : memref<4x2xf32>
  body begin {
    %z = launch @k_zero() : () -> (tensor<4x4xf32>)
    store %z, %acc : tensor<4x4xf32>, memref<4x4xf32>
  }
  // The parameter comes once for each layer that uses it.
  // CHECK: body forward
  // CHECK-NEXT: %[[x:.*]] = load %x
  // CHECK-NEXT: %[[w:.*]] = load %w : memref<4x4xf32>
  // CHECK-NEXT: %[[w0:.*]] = transfer %[[w]] because "offload parameters w" : tensor<4x4xf32> -> (tensor<4x4xf32>) in "h.0"
  // CHECK-NEXT: %[[y:.*]] = launch @k_two(%[[x]], %[[w0]])
  // CHECK-NEXT: %[[out:.*]] = transfer %[[y]] because "offload activations h.*" : tensor<4x4xf32> -> (tensor<4x4xf32>) in "h.0"
  // CHECK-NEXT: store %[[out]], %h0
  // CHECK-NEXT: %[[half:.*]] = launch @k_half(%[[y]])
  // CHECK-NEXT: store %[[half]], %small
  // CHECK-NEXT: %[[w1:.*]] = transfer %[[w]] because "offload parameters w"
  // CHECK-NEXT: %[[o:.*]] = launch @k_two(%[[y]], %[[w1]])
  // CHECK-NEXT: %[[p:.*]] = launch @k_one(%[[o]])
  // CHECK-NEXT: store %[[p]], %head
  body forward {
    %a = load %x : memref<4x4xf32> -> tensor<4x4xf32>
    %b = load %w : memref<4x4xf32> -> tensor<4x4xf32>
    %y = launch @k_two(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>) in "h.0"
    store %y, %h0 : tensor<4x4xf32>, memref<4x4xf32>
    %s = launch @k_half(%y) : (tensor<4x4xf32>) -> (tensor<4x2xf32>) in "h.1"
    store %s, %small : tensor<4x2xf32>, memref<4x2xf32>
    %z = launch @k_two(%y, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>) in "h.1"
    %p = launch @k_one(%z) : (tensor<4x4xf32>) -> (tensor<4x4xf32>) in "head"
    store %p, %head : tensor<4x4xf32>, memref<4x4xf32>
  }
  // CHECK: body backward
  // CHECK: %[[k:.*]] = load %head
  // CHECK-NEXT: %[[kept:.*]] = load %h0
  // CHECK-NEXT: %[[g:.*]] = launch @k_one(%[[k]])
  // CHECK-NEXT: %[[back:.*]] = transfer %[[kept]] because "offload activations h.*" : tensor<4x4xf32> -> (tensor<4x4xf32>) in "h.0" backward
  // CHECK-NEXT: launch @k_two(%[[back]], %[[g]])
  body backward {
    %k = load %head : memref<4x4xf32> -> tensor<4x4xf32>
    %y = load %h0 : memref<4x4xf32> -> tensor<4x4xf32>
    %g = launch @k_one(%k) : (tensor<4x4xf32>) -> (tensor<4x4xf32>) in "head" backward
    %d = launch @k_two(%y, %g) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>) in "h.0" backward
    %old = load %acc : memref<4x4xf32> -> tensor<4x4xf32>
    %new = launch @k_sum(%old, %d) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>) in "h.0" backward
    store %new, %acc : tensor<4x4xf32>, memref<4x4xf32>
  }
  // In update both come, are worked on in place, and go back.
  // CHECK: body update
  // CHECK: %[[m:.*]] = transfer %{{.*}} because "offload optimizer_state"
  // CHECK: launch @k_adam(%{{.*}}, %[[m]], %{{.*}})
  // CHECK: transfer %{{.*}} because "offload parameters w"
  // CHECK: store %{{.*}}, %w
  // CHECK: transfer %{{.*}} because "offload optimizer_state"
  // CHECK: store %{{.*}}, %w.m
  // PLANNED: body update
  // PLANNED-DAG: transfer %w outs(%[[wd:.*]] : memref<4x4xf32>)
  // PLANNED-DAG: transfer %w.m outs(%[[md:.*]] : memref<4x4xf32>)
  // PLANNED: launch @k_adam(%[[wd]], %[[md]], %acc) outs(%{{.*}}, %{{.*}} : memref<4x4xf32>, memref<4x4xf32>)
  // PLANNED: transfer %{{.*}} outs(%w : memref<4x4xf32>) because "offload parameters w"
  // PLANNED: transfer %{{.*}} outs(%w.m : memref<4x4xf32>) because "offload optimizer_state"
  body update {
    %a = load %w : memref<4x4xf32> -> tensor<4x4xf32>
    %b = load %m : memref<4x4xf32> -> tensor<4x4xf32>
    %c = load %acc : memref<4x4xf32> -> tensor<4x4xf32>
    %nw, %nm = launch @k_adam(%a, %b, %c) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    store %nw, %w : tensor<4x4xf32>, memref<4x4xf32>
    store %nm, %m : tensor<4x4xf32>, memref<4x4xf32>
  }
  schedule "train" <streams "compute" {
    compute: begin
    compute: forward microbatch 0 slot 0
    compute: forward microbatch 1 slot 1
    compute: backward microbatch 0 slot 0
    compute: backward microbatch 1 slot 1
    compute: update
  }>
}
