// RUN: hocket-opt %s --verify-roundtrip --step-overlap | hocket-opt | FileCheck %s --enable-var-scope
// And with memory planned: what is in flight keeps its place.
// RUN: hocket-opt %s --step-overlap --step-plan-memory | FileCheck %s --check-prefix=PLAN

nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @p for @g on @m {
  batch over "dp" microbatch 1 sequences
  zero 3 over "dp"
  overlap gradients
  overlap parameters
  overlap activations
}
func.func private @k_use(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
func.func private @k_add(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> attributes {hocket.in_place = array<i64: 0, 0>}
func.func private @k_one(tensor<16xf32>) -> tensor<16xf32> attributes {hocket.in_place = array<i64: 0, 0>}

step.program @s0 under @p stage 0 computes ["h.0"] microbatches 2 {
  %v = buffer parameter "v" in arena state param init zeros : memref<8xf32>
  %w = buffer parameter "w" in arena state param init zeros : memref<8xf32>
  %u = buffer parameter "u" in arena state param init zeros : memref<8xf32>
  %a = buffer accumulator "a.acc" in arena state accumulator : memref<16xf32>
  %b = buffer accumulator "b.acc" in arena state accumulator : memref<16xf32>
  %r = buffer accumulator "a.reduced" in arena state value : memref<16xf32>
  %act = buffer activation "act" in slot : memref<16xf32>

  // The first gather starts with the body, each other one with the first use of the one before it.
  // CHECK: body forward
  // CHECK: all_gather sum %v.value {{.*}} on "parameters"
  // CHECK-NEXT: launch @k_use(%{{.*}}, %{{.*}}) {{.*}} in "x"
  // CHECK-NEXT: all_gather sum %w.value {{.*}} on "parameters"
  // CHECK-NEXT: await "parameters" 1
  // CHECK-NEXT: launch @k_use({{.*}} in "a"
  // CHECK-NEXT: all_gather sum %u.value {{.*}} on "parameters"
  // CHECK-NEXT: await "parameters" 2
  // CHECK-NEXT: launch @k_use({{.*}} in "b"
  // CHECK-NEXT: await "parameters" 3
  // CHECK-NEXT: launch @k_use({{.*}} in "c"
  body forward {
    %vs = load %v : memref<8xf32> -> tensor<8xf32>
    %ws = load %w : memref<8xf32> -> tensor<8xf32>
    %us = load %u : memref<8xf32> -> tensor<8xf32>
    %x = load %act : memref<16xf32> -> tensor<16xf32>
    %x0 = launch @k_use(%x, %x) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "x"
    %vg = collective all_gather sum %vs over "dp" because "use" : tensor<8xf32> -> (tensor<16xf32>) in "a"
    %x1 = launch @k_use(%x0, %vg) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "a"
    %wg = collective all_gather sum %ws over "dp" because "use" : tensor<8xf32> -> (tensor<16xf32>) in "b"
    %x2 = launch @k_use(%x1, %wg) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "b"
    %ug = collective all_gather sum %us over "dp" because "use" : tensor<8xf32> -> (tensor<16xf32>) in "c"
    %x3 = launch @k_use(%x2, %ug) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "c"
    store %x3, %act : tensor<16xf32>, memref<16xf32>
  }

  // Weight gradients that stand behind the use of an activation's reduction run before it; what has no work beside it stays.
  // CHECK: body backward
  // CHECK: all_reduce sum %{{.*}} on "activations"
  // CHECK-NEXT: launch @k_add({{.*}} in "h.0" weight_grad
  // CHECK-NEXT: store %{{.*}}, %{{.*}}
  // CHECK-NEXT: await "activations" 1
  // CHECK-NEXT: %[[Y:.*]] = launch @k_use({{.*}} in "h.1" backward
  // CHECK-NEXT: all_reduce sum %[[Y]] over "tp" because
  // CHECK-NEXT: launch @k_one({{.*}} in "h.1" backward
  // The plan gives the buffer of a value in flight to nobody: @k_one may work in place, and does not while its operand is being reduced.
  // PLAN: body backward
  // PLAN: launch @k_one(%act) outs(%[[X:.*]] : memref<16xf32>) {{.*}} in "h.0" backward
  // PLAN-NEXT: all_reduce sum %[[X]] outs(%[[X2:.*]] : memref<16xf32>) over "tp" on "activations"
  body backward {
    %x = load %act : memref<16xf32> -> tensor<16xf32>
    %bs = load %b : memref<16xf32> -> tensor<16xf32>
    %x0 = launch @k_one(%x) : (tensor<16xf32>) -> (tensor<16xf32>) in "h.0" backward
    %y = collective all_reduce sum %x0 over "tp" because "split" : tensor<16xf32> -> (tensor<16xf32>) in "h.0" backward
    %z = launch @k_use(%y, %y) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "h.1" backward
    %b1 = launch @k_add(%bs, %x0) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "h.0" weight_grad
    store %b1, %b : tensor<16xf32>, memref<16xf32>
    %zr = collective all_reduce sum %z over "tp" because "split" : tensor<16xf32> -> (tensor<16xf32>) in "h.1" backward
    %q = launch @k_one(%zr) : (tensor<16xf32>) -> (tensor<16xf32>) in "h.1" backward
    store %q, %act : tensor<16xf32>, memref<16xf32>
  }

  // A reduction of an accumulator starts when it is added to for the last time; its result is stored last.
  // CHECK: body final_backward
  // CHECK: store %{{.*}}, %a.acc
  // CHECK-NEXT: load %a.acc
  // CHECK-NEXT: all_reduce sum %{{.*}} over "dp" on "gradients"
  // CHECK-NEXT: launch @k_add({{.*}}
  // CHECK-NEXT: store %{{.*}}, %b.acc
  // CHECK-NEXT: await "gradients" 1
  // CHECK-NEXT: store %{{.*}}, %a.reduced
  body final_backward {
    %x = load %act : memref<16xf32> -> tensor<16xf32>
    %as = load %a : memref<16xf32> -> tensor<16xf32>
    %bs = load %b : memref<16xf32> -> tensor<16xf32>
    %a1 = launch @k_add(%as, %x) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "h.0" weight_grad
    store %a1, %a : tensor<16xf32>, memref<16xf32>
    %an = load %a : memref<16xf32> -> tensor<16xf32>
    %ar = collective all_reduce sum %an over "dp" because "batch" : tensor<16xf32> -> (tensor<16xf32>) in "h.0"
    store %ar, %r : tensor<16xf32>, memref<16xf32>
    %b1 = launch @k_add(%bs, %x) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>) in "h.0" weight_grad
    store %b1, %b : tensor<16xf32>, memref<16xf32>
  }
}
