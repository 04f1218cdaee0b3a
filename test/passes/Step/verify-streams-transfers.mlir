// Transfers on streams, planned, and what step-verify-program says of races on either side, device or host: each RUN line replaces the
// line that ends in the named mark.
// RUN: hocket-opt %s --verify-roundtrip --step-verify-program | FileCheck %s
// CHECK: step.program @s

nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<4x4xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<4x4xf32> -> tensor<?x4x4xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x4xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @m<"dp"=1>
dist.plan @p for @g on @m {
  batch over "dp" microbatch 1 sequences
}
func.func private @k_one(tensor<16xf32>) -> tensor<16xf32>
func.func private @k_sum(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> attributes {hocket.in_place = array<i64: 0, 0>}

step.job @j of @g with @r under @p rows 1 microbatches 1 sequence 4 vocabulary 4 parameters 16 stages 1 layers ["h.0"]
step.program @s under @p stage 0 computes ["h.0"] microbatches 1 arena 384 slots 1 of 64 at 320 host 256 slots of 128 at 128 {
  %m = buffer optimizer_state "w.m" in host offset 0 state first_moment init zeros : memref<16xf32>
  %v = buffer optimizer_state "w.v" in host offset 64 state second_moment init zeros : memref<16xf32>
  %w = buffer parameter "w" in arena offset 0 state param init zeros : memref<16xf32>
  %x = buffer input "x" in microbatch offset 64 state input : memref<16xf32>
  %y = buffer workspace "y" in arena offset 128 : memref<16xf32>
  %z = buffer workspace "z" in arena offset 192 : memref<16xf32>
  %u = buffer workspace "u" in arena offset 256 : memref<16xf32>
  %over = buffer workspace "over" in arena offset 256 : memref<16xf32> // OVER
  %a = buffer activation "a" in host_slot offset 0 : memref<16xf32>
  %b = buffer activation "b" in host_slot offset 64 : memref<16xf32> // B
  body begin {
  }
  body forward {
    launch @k_one(%x) outs(%y : memref<16xf32>) : (memref<16xf32>) -> () in "h.0"
    transfer %y outs(%a : memref<16xf32>) on "offload" because "offload activations" : memref<16xf32> -> () in "h.0"
    launch @k_one(%y) outs(%z : memref<16xf32>) : (memref<16xf32>) -> () in "h.0" // BESIDE
    transfer %z outs(%b : memref<16xf32>) on "offload" because "offload activations" : memref<16xf32> -> () in "h.0" // SECOND
    launch @k_one(%y) outs(%u : memref<16xf32>) : (memref<16xf32>) -> () in "h.0"
    await "offload" 2 // LEFT
  }
  body backward {
    transfer %b outs(%z : memref<16xf32>) on "fetch" because "offload activations" : memref<16xf32> -> () in "h.0" backward
    transfer %a outs(%y : memref<16xf32>) on "fetch" because "offload activations" : memref<16xf32> -> () in "h.0" backward
    await "fetch" 1 // ONE
    launch @k_one(%z) outs(%u : memref<16xf32>) : (memref<16xf32>) -> () in "h.0" backward // AHEAD
    await "fetch" 2 // TWO
    launch @k_sum(%y, %u) outs(%y : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0" backward
  }
  body update {
    transfer %m outs(%y : memref<16xf32>) on "fetch" because "offload optimizer_state" : memref<16xf32> -> ()
    transfer %v outs(%z : memref<16xf32>) on "fetch" because "offload optimizer_state" : memref<16xf32> -> ()
    await "fetch" 1 // COME
    launch @k_sum(%y, %w) outs(%y : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () // ADAM
    transfer %y outs(%m : memref<16xf32>) on "offload" because "offload optimizer_state" : memref<16xf32> -> () // BACK
    await "fetch" 2 // COME2
    launch @k_sum(%z, %w) outs(%z : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> ()
    transfer %z outs(%v : memref<16xf32>) on "offload" because "offload optimizer_state" : memref<16xf32> -> ()
    await "offload" 2 // GONE
  }
  schedule "train" <streams "compute" {
    compute: begin
    compute: forward microbatch 0 slot 0
    compute: backward microbatch 0 slot 0
    compute: update
  }>
}

// ---- on the device
// What leaves is overwritten.
// RUN: sed '/[/][/] BESIDE$/s/@k_one(%%y) outs(%%z/@k_one(%%x) outs(%%y/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=LEAVES
// LEAVES: error: stage 0, forward: one of h.0 writes 'y', of which transfer of h.0 on stream "offload" may still read 'y' at bytes 128 to 191 and is not awaited{{$}}
// LEAVES: note: started here
// What comes is read, or its place used, before it has come.
// RUN: sed '/[/][/] ONE$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: stage 0, backward: one of h.0 reads 'z', of which transfer of h.0 on stream "fetch" may still write 'z' at bytes 192 to 255 and is not awaited{{$}}
// RUN: sed '/[/][/] OVER$/s/256/160/; /[/][/] AHEAD$/s/outs(%%u/outs(%%over/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: error: stage 0, backward: one of h.0 writes 'over', of which transfer of h.0 on stream "fetch" may still write 'y' at bytes 160 to 191 and is not awaited{{$}}
// A piece of state is worked on before it is there.
// RUN: sed '/[/][/] COME$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=STATE
// STATE: error: stage 0, update: sum writes 'y', of which transfer on stream "fetch" may still write 'y' at bytes 128 to 191 and is not awaited{{$}}

// ---- in the host's memory
// What is fetched is overwritten there by what leaves on the other stream.
// RUN: sed '/[/][/] BACK$/s/outs(%%m/outs(%%v/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=HOSTREAD
// HOSTREAD: error: stage 0, update: transfer writes 'w.v', of which transfer on stream "fetch" may still read 'w.v' at bytes 64 to 127 and is not awaited{{$}}
// What leaves is fetched again too early.
// RUN: sed '/[/][/] COME2$/s/.*/await "fetch" 2 transfer %%m outs(%%u : memref<16xf32>) on "fetch" because "again" : memref<16xf32> -> ()/; /[/][/] GONE$/s/.*/await "offload" 2 await "fetch" 3/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=HOSTWRITE
// HOSTWRITE: error: stage 0, update: transfer reads 'w.m', of which transfer on stream "offload" may still write 'w.m' at bytes 0 to 63 and is not awaited{{$}}
// Two that leave on different streams over the same bytes of a slot.
// RUN: sed '/[/][/] B$/s/64/0/; /[/][/] SECOND$/s/"offload" because/"other" because/; /[/][/] LEFT$/s/.*/await "offload" 1 await "other" 1/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: stage 0, forward: transfer of h.0 writes 'b', of which transfer of h.0 on stream "offload" may still write 'a' at bytes 0 to 63 and is not awaited{{$}}

// ---- at the end
// RUN: sed '/[/][/] LEFT$/s/2/1/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: stage 0, forward: transfer of h.0 on stream "offload" is not awaited before the body ends; 1 of 2 ops there are not{{$}}
// OPEN: note: the body is here
// RUN: sed '/[/][/] TWO$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: error: stage 0, backward: sum of h.0 writes 'y', of which transfer of h.0 on stream "fetch" may still write 'y' at bytes 128 to 191 and is not awaited{{$}}
// NEVER: error: stage 0, backward: transfer of h.0 on stream "fetch" is not awaited before the body ends; 1 of 2 ops there are not{{$}}
