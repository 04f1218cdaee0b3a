// What step-verify-program says when the host's memory in a plan is damaged: each RUN line replaces the line that ends in the named
// mark.
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
func.func private @k_two(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
func.func private @k_sum(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> attributes {hocket.in_place = array<i64: 0, 0>}

step.job @j of @g with @r under @p rows 1 microbatches 2 sequence 4 vocabulary 4 parameters 16 stages 1 layers ["h.0"]
step.program @s under @p stage 0 computes ["h.0"] microbatches 2 arena 384 slots 2 of 64 at 256 host 384 slots of 128 at 128 { // S
  %w = buffer parameter "w" in host offset 0 state param init zeros : memref<16xf32>
  %m = buffer optimizer_state "w.m" in host offset 64 state first_moment init zeros : memref<16xf32> // M
  %x = buffer input "x" in microbatch offset 0 state input : memref<16xf32>
  %wd = buffer workspace "wd" in arena offset 128 : memref<16xf32>
  %y = buffer workspace "y" in arena offset 192 : memref<16xf32>
  %here = buffer activation "here" in slot offset 0 : memref<16xf32>
  %a = buffer activation "a" in host_slot offset 0 : memref<16xf32>
  %b = buffer activation "b" in host_slot offset 64 : memref<16xf32> // B
  %half = buffer workspace "half" in arena offset 192 : memref<8xf32>
  body begin {
  }
  body forward {
    transfer %w outs(%wd : memref<16xf32>) because "offload parameters" : memref<16xf32> -> () in "h.0" // IN
    launch @k_two(%x, %wd) outs(%y : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0" // USE
    transfer %y outs(%a : memref<16xf32>) because "offload activations" : memref<16xf32> -> () in "h.0" // OUT
    launch @k_two(%y, %wd) outs(%here : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0"
    transfer %here outs(%b : memref<16xf32>) because "offload activations" : memref<16xf32> -> () in "h.0" // OUTB
  }
  body backward {
    transfer %a outs(%y : memref<16xf32>) because "offload activations" : memref<16xf32> -> () in "h.0" backward // BACKA
    transfer %b outs(%wd : memref<16xf32>) because "offload activations" : memref<16xf32> -> () in "h.0" backward // BACKB
    launch @k_sum(%y, %wd) outs(%y : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0" backward // GRAD
  }
  body update {
    transfer %w outs(%wd : memref<16xf32>) because "offload parameters" : memref<16xf32> -> ()
    transfer %m outs(%y : memref<16xf32>) because "offload optimizer_state" : memref<16xf32> -> () // UPDATE
    launch @k_sum(%wd, %y) outs(%wd : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> ()
    transfer %wd outs(%w : memref<16xf32>) because "offload parameters" : memref<16xf32> -> ()
    transfer %y outs(%m : memref<16xf32>) because "offload optimizer_state" : memref<16xf32> -> ()
  }
  schedule "train" <streams "compute" {
    compute: begin
    compute: forward microbatch 0 slot 0
    compute: forward microbatch 1 slot 1 // REUSE
    compute: backward microbatch 0 slot 0
    compute: backward microbatch 1 slot 1
    compute: update
  }>
}

// ---- places
// RUN: sed '/[/][/] S$/s/host 384/host 320/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: error: stage 0: 2 slots of 128 bytes at 128 end at byte 384, the host's arena has 320{{$}}
// RUN: sed '/[/][/] S$/s/at 128/at 100/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=SLOTS
// SLOTS: error: stage 0: slots of 128 bytes at 100, expected multiples of 64{{$}}
// SLOTS: error: stage 0: 'w.m' and the slots share the bytes 100 to 127{{$}}
// RUN: sed '/[/][/] M$/s/offset 64/offset 0/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=SHARE
// SHARE: error: stage 0: 'w.m' and 'w' share the bytes 0 to 63{{$}}
// SHARE: note: 'w' lies here{{$}}
// RUN: sed '/[/][/] M$/s/offset 64/offset 350/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=ARENA
// ARENA: error: stage 0: 'w.m' starts at byte 350, expected a multiple of 64{{$}}
// ARENA: error: stage 0: 'w.m' ends at byte 414, the host's arena has 384{{$}}
// RUN: sed '/[/][/] B$/s/offset 64/offset 128/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=SLOT
// SLOT: error: stage 0: 'b' ends at byte 192, the host's slot has 128{{$}}
// RUN: sed '/[/][/] B$/s/offset 64/offset 0/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: error: stage 0: 'b' and 'a' share the bytes 0 to 63{{$}}
// RUN: sed '/[/][/] M$/s/state first_moment init zeros//' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=LASTS
// LASTS: error: stage 0: 'w.m' lies in the host's memory and does not last{{$}}

// ---- who touches it
// RUN: sed '/[/][/] USE$/s/%%wd/%%w/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: error: stage 0, forward: two of h.0 uses 'w' in the host's memory; only transfers do{{$}}
// RUN: sed '/[/][/] IN$/s/%%w outs/%%x outs/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=WITHIN
// WITHIN: error: stage 0, forward: transfer of h.0 copies within the device's memory; a transfer is between device and host{{$}}
// RUN: sed '/[/][/] OUTB$/s/%%here outs/%%a outs/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: error: stage 0, forward: transfer of h.0 copies within the host's memory; a transfer is between device and host{{$}}
// RUN: sed '/[/][/] UPDATE$/s/%%m outs/%%b outs/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: error: stage 0, update: transfer uses 'b' of a microbatch; update belongs to none{{$}}

// ---- what it holds
// RUN: sed '/[/][/] OUT$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: error: stage 0, backward: transfer of h.0 reads 'a', which nothing before it has written{{$}}
// RUN: sed '/[/][/] IN$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: stage 0, forward: two of h.0 reads 'wd', which nothing before it has written{{$}}
// RUN: sed '/[/][/] BACKB$/s/%%wd/%%y/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: stage 0, backward: sum of h.0 reads 'wd', which nothing before it has written{{$}}
// RUN: sed '/[/][/] REUSE$/s/slot 1/slot 0/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=REUSED
// REUSED: error:
