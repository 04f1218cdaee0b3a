// A small planned program of two stages, and what step-verify-program says when one line of it is damaged: each RUN line
// replaces the line that ends in the named mark.
// RUN: hocket-opt %s --verify-roundtrip --step-verify-program | FileCheck %s
// CHECK: step.program @s1

nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @m<"pp"=2, "tp"=1>
dist.plan @p for @g on @m {
  batch microbatch 1 sequences
  stages over "pp" schedule "1f1b"
}
func.func private @k_zero() -> tensor<16xf32>
func.func private @k_one(tensor<16xf32>) -> tensor<16xf32>
func.func private @k_two(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
func.func private @k_sum(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> attributes {hocket.in_place = array<i64: 0, 0>}

step.job @j of @g with @r under @p rows 1 microbatches 2 sequence 4 vocabulary 8 parameters 64 stages 2 layers ["h.0", "h.1"]
step.program @s0 under @p stage 0 computes ["h.0"] microbatches 2 arena 576 slots 2 of 128 at 320 { // S0
  %w = buffer parameter "w" in arena offset 0 state param init zeros : memref<16xf32>
  %acc = buffer accumulator "w.acc" in arena offset 64 state accumulator : memref<16xf32> // ACC
  %x = buffer input "x" in microbatch offset 128 state input : memref<16xf32>
  %tmp = buffer workspace "tmp" in arena offset 256 : memref<16xf32> // TMP
  %old = buffer workspace "old" in arena offset 256 : memref<16xf32> // OLD
  %act = buffer communication "act" in slot offset 0 : memref<16xf32>
  %grad = buffer communication "grad" in slot offset 64 : memref<16xf32> // GRAD
  %over = buffer activation "over" in slot offset 0 : memref<16xf32> // over other bytes, at other times
  %kept = buffer activation "kept" in slot offset 64 : memref<16xf32>
  body begin {
    launch @k_zero() outs(%acc : memref<16xf32>) : () -> () // ZERO
  }
  body forward {
    launch @k_two(%x, %w) outs(%tmp : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0" // FWD
    launch @k_one(%tmp) outs(%act : memref<16xf32>) : (memref<16xf32>) -> () in "h.0" // ACT
  }
  body backward {
    launch @k_two(%grad, %w) outs(%tmp : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0" backward
    launch @k_sum(%acc, %tmp) outs(%acc : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0" backward // SUM
  }
  body update {
    collective all_reduce sum %acc outs(%tmp : memref<16xf32>) over "pp" because "norm" : memref<16xf32> -> () // NORM
    launch @k_sum(%w, %tmp) outs(%w : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () // UPD
  }
  message activation from 0 to 1 carries %act because "cut" : memref<16xf32> // SEND
  message gradient from 1 to 0 carries %grad because "cut" : memref<16xf32>
  schedule "train" <streams "compute", "send_next", "receive_next" messages activation from 0 to 1, gradient from 1 to 0 {
    compute: begin
    compute: forward microbatch 0 slot 0
    send_next: send activation to 1 microbatch 0 slot 0 after compute 2
    compute: forward microbatch 1 slot 1 // ROW
    send_next: send activation to 1 microbatch 1 slot 1 after compute 3
    receive_next: receive gradient from 1 microbatch 0 slot 0 after send_next 1
    compute: backward microbatch 0 slot 0 after receive_next 1 // WAIT
    receive_next: receive gradient from 1 microbatch 1 slot 1 after send_next 2
    compute: backward microbatch 1 slot 1 after receive_next 2
    compute: update
  }>
}
step.program @s1 under @p stage 1 computes ["h.1"] microbatches 2 arena 448 slots 1 of 128 at 320 { // S1
  %w = buffer parameter "w" in arena offset 0 state param init zeros : memref<16xf32>
  %acc = buffer accumulator "w.acc" in arena offset 64 state accumulator : memref<16xf32>
  %tmp = buffer workspace "tmp" in arena offset 128 : memref<16xf32>
  %act = buffer communication "act" in slot offset 0 : memref<16xf32>
  %late = buffer workspace "late" in arena offset 384 : memref<16xf32> // over the slot, behind all microbatches
  %grad = buffer communication "grad" in slot offset 64 : memref<16xf32> // GRAD1
  body begin {
    launch @k_zero() outs(%acc : memref<16xf32>) : () -> ()
  }
  body forward {
    launch @k_two(%act, %w) outs(%tmp : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.1"
  }
  body backward {
    launch @k_two(%act, %w) outs(%grad : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.1" backward
    launch @k_sum(%acc, %grad) outs(%acc : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.1" backward
  }
  body update {
    collective all_reduce sum %acc outs(%tmp : memref<16xf32>) over "pp" because "norm" : memref<16xf32> -> () // NORM1
    launch @k_sum(%w, %tmp) outs(%w : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () // UPD1
  }
  message activation from 0 to 1 carries %act because "cut" : memref<16xf32> // RECEIVE
  message gradient from 1 to 0 carries %grad because "cut" : memref<16xf32>
  schedule "train" <streams "compute", "receive_previous", "send_previous" messages activation from 0 to 1, gradient from 1 to 0 {
    compute: begin
    receive_previous: receive activation from 0 microbatch 0 slot 0
    compute: forward microbatch 0 slot 0 after receive_previous 1
    compute: backward microbatch 0 slot 0
    send_previous: send gradient to 0 microbatch 0 slot 0 after compute 3
    receive_previous: receive activation from 0 microbatch 1 slot 0 after send_previous 1 // REUSE
    compute: forward microbatch 1 slot 0 after receive_previous 2
    compute: backward microbatch 1 slot 0
    send_previous: send gradient to 0 microbatch 1 slot 0 after compute 5
    compute: update // LAST
  }>
}

// ---- stages
// RUN: sed '/[/][/] S0$/s/"h.0"/"h.0", "h.1"/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: layer h.1 is on 2 stages{{$}}
// TWICE: note: on stage 0{{$}}
// TWICE: note: on stage 1{{$}}
// TWICE: error: stage 0: says it computes layer h.1, no op of its forward is of it{{$}}
// RUN: sed '/[/][/] S1$/s/"h.1"//' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: error: layer h.1 is on no stage{{$}}
// LOST: error: stage 1, forward: two of h.1 is of layer h.1, the stage computes {{$}}
// RUN: sed '/[/][/] S1$/s/stage 1/stage 0/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: stage 0: the same stage twice{{$}}
// MISSING: note: it stands here{{$}}
// MISSING: error: stage 1 of 2 has no program{{$}}
// RUN: sed '/^step.program/,$ {s/"h.0"/"h.x"/;s/"h.1"/"h.0"/;s/"h.x"/"h.1"/}' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=TURNED
// TURNED: error: stage 0: computes layer h.1 where h.0 is next; stages hold layers in the order of the model{{$}}

// ---- kernels
// RUN: sed '/[/][/] ACT$/s/k_one/k_ome/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: stage 0, forward: unknown kernel 'k_ome' (nearest: k_one){{$}}
// RUN: sed '/[/][/] ACT$/s/k_one/k_two/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=SIGNATURE
// SIGNATURE: error: stage 0, forward: kernel 'k_two' has 2 tensors to read, launched with 1{{$}}
// SIGNATURE: note: kernel defined here{{$}}

// ---- memory
// RUN: sed '/[/][/] TMP$/s/offset 256/offset 250/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=ALIGN
// ALIGN: error: stage 0: 'tmp' starts at byte 250, expected a multiple of 64{{$}}
// ALIGN: error: stage 0: 'tmp' and 'x' share the bytes 250 to 255{{$}}
// ALIGN: note: 'x' lies here{{$}}
// RUN: sed '/[/][/] TMP$/s/offset 256/offset 320/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=SLOTS
// SLOTS: error: stage 0: 'tmp' and the slots share the bytes 320 to 383{{$}}
// RUN: sed '/[/][/] GRAD$/s/offset 64/offset 128/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: error: stage 0: 'grad' ends at byte 192, the slot has 128{{$}}
// Gradients arrive where the activation lay that was sent: right, because their receive waits for that send …
// RUN: sed '/[/][/] GRAD$/s/offset 64/offset 0/' %s | hocket-opt --step-verify-program | FileCheck %s
// … and wrong without that.
// RUN: sed '/[/][/] GRAD$/s/offset 64/offset 0/; s/ after send_next 1$/ after compute 2/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=ONEWAY
// ONEWAY: error: stage 0: 'gradient from 1 to 0' and 'activation from 0 to 1' may be on their way at once, and share the bytes 0 to 63 of the slot{{$}}
// ONEWAY: note: the other is here{{$}}
// RUN: sed '/[/][/] GRAD$/s/offset 64/offset 0/; s/ after send_next 1$//' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=TOOSOON
// TOOSOON: error: stage 0, forward: one of h.0 writes 'act', bytes 0 to 63 of the slot, while 'gradient from 1 to 0' may still arrive there{{$}}
// TOOSOON: note: the message is here{{$}}
// TOOSOON: error: stage 0: 'activation from 0 to 1' and 'gradient from 1 to 0' may be on their way at once, and share the bytes 0 to 63 of the slot{{$}}
// On stage 1 backward reads what it was sent while it makes what it sends back.
// RUN: sed '/[/][/] GRAD1$/s/offset 64/offset 0/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: stage 1, backward: two of h.1 writes 'grad' over its operand 'act', and does not work in place there{{$}}
// SHORT: note: 'act' lies here{{$}}
// Update may lie over the slots where nothing is on its way: on stage 0 anywhere, on stage 1 not over the gradient that is sent.
// RUN: sed '/[/][/] NORM$/s/%%tmp/%%old/; /[/][/] OLD$/s/offset 256/offset 448/; /[/][/] UPD$/s/%%tmp/%%old/' %s | hocket-opt --step-verify-program | FileCheck %s
// RUN: sed '/[/][/] NORM1$/s/%%tmp/%%late/; /[/][/] UPD1$/s/%%tmp/%%late/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=UNDERWAY
// UNDERWAY: error: stage 1: 'late' of update lies over the bytes 384 to 447 of the slots, where 'gradient from 1 to 0' of microbatch 1 may not have finished when update starts{{$}}
// UNDERWAY: note: update does not wait for it here{{$}}
// RUN: sed '/[/][/] NORM1$/s/%%tmp/%%late/; /[/][/] UPD1$/s/%%tmp/%%late/; /[/][/] LAST$/s/update/update after send_previous 2/' %s | hocket-opt --step-verify-program | FileCheck %s
// ---- contents
// RUN: sed '/[/][/] ZERO$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=UNZEROED
// UNZEROED: error: stage 0: 'w.acc' is not zeroed in begin; it would start with the sums of the step before{{$}}
// UNZEROED: error: stage 0, backward: sum of h.0 reads 'w.acc', which nothing before it has written{{$}}
// RUN: sed '/[/][/] FWD$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// UNWRITTEN: error: stage 0, forward: one of h.0 reads 'tmp', which nothing before it has written{{$}}
// UNWRITTEN: note: 'tmp' lies here{{$}}
// RUN: sed '/[/][/] ACT$/s/%%act/%%tmp/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=INPLACE
// INPLACE: error: stage 0, forward: one of h.0 writes 'tmp' over its operand 'tmp', and does not work in place there{{$}}
// INPLACE: error: stage 0: sends 'act' with 'activation from 0 to 1', which no body and no message before it has written{{$}}
// RUN: sed '/[/][/] FWD$/a launch @k_zero() outs(%%old : memref<16xf32>) : () -> () in "h.0"' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=CLOBBER
// CLOBBER: error: stage 0, forward: one of h.0 reads 'tmp' after zero of h.0 has written 'old' over its bytes 256 to 319{{$}}
// CLOBBER: note: overwritten here{{$}}
// RUN: sed '/[/][/] SUM$/s/outs(%%acc/outs(%%act/; s/ after send_next [12]$/ after compute 3/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=SENDING
// SENDING: error: stage 0, backward: sum of h.0 writes 'act', bytes 0 to 63 of the slot, while 'activation from 0 to 1' may still send them{{$}}
// RUN: sed '/[/][/] ACT$/{p;s/%%tmp/%%w/;s/%%act/%%over/}' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=SENT
// SENT: error: stage 0: 'activation from 0 to 1' sends 'act' after one of h.0 has written 'over' over its bytes 0 to 63{{$}}
// SENT: note: overwritten here{{$}}
// A gradient that may arrive where forward has left something for backward.
// RUN: sed '/[/][/] ACT$/{s/%%act/%%kept/;p;s/%%kept/%%act/}; /[/][/] SUM$/s/%%tmp)/%%kept)/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=ARRIVED
// ARRIVED: error: stage 0, backward: sum of h.0 reads 'kept' after 'gradient from 1 to 0' may have put 'grad' over its bytes 64 to 127{{$}}
// ARRIVED: note: overwritten here{{$}}

// ---- messages
// RUN: sed '/[/][/] RECEIVE$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=UNMATCHED
// UNMATCHED: error: stage 0: sends 'activation from 0 to 1' with 'act' (64 bytes), and stage 1 never receives it{{$}}
// UNMATCHED: note: stage 1 is here{{$}}
// UNMATCHED: error: stage 1: schedule 'train' names 'activation from 0 to 1', which the program does not have{{$}}
// RUN: sed '/[/][/] SEND$/s/%%act/%%act, %%grad/; /[/][/] SEND$/s/: memref<16xf32>/: memref<16xf32>, memref<16xf32>/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: stage 0: sends 'activation from 0 to 1' with 'act' (64 bytes), 'grad' (64 bytes), stage 1 receives 'act' (64 bytes){{$}}
// BYTES: note: received here{{$}}

// ---- schedules
// RUN: sed '/[/][/] WAIT$/s/ after receive_next 1//' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: schedule 'train': stage 0, time 2: backward of microbatch 0 does not wait for the receive of the gradient of microbatch 0 from stage 1{{$}}
// RUN: sed '/[/][/] REUSE$/s/ after send_previous 1//' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=REUSE
// REUSE: error: schedule 'train': stage 1, time 2: receive of the activation of microbatch 1 from stage 0 writes slot 0 while microbatch 0 may still use it{{$}}
// REUSE: note: stage 1, time 1: forward of microbatch 0{{$}}
// RUN: sed '/[/][/] ROW$/s/$/\n compute: backward microbatch 1 slot 1/; /[/][/] ROW$/s/microbatch 1 slot 1/microbatch 1 slot 1 after receive_next 1/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: schedule 'train': stage 0, {{.*}}: backward of microbatch 1 for the second time{{$}}
// RUN: sed '/[/][/] ROW$/s/ [/][/]/ after receive_next 2 &/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=DEADLOCK
// DEADLOCK: error: schedule 'train': deadlock with rendezvous sends: {{[0-9]+}} rows wait for each other, {{[0-9]+ of [0-9]+}} rows never run after time {{[0-9]+}}{{$}}
// DEADLOCK: note: stage 0, time 1: forward of microbatch 1 waits for the receive of the gradient of microbatch 1 from stage 1

// ---- collectives
// RUN: sed '/[/][/] NORM1$/s/sum/max/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: stage 1, update: collective 0 over {"pp"} is all_reduce max of 64 bytes of f32, on stage 0 it is all_reduce sum of 64 bytes of f32{{$}}
// KIND: note: issued here by stage 0{{$}}
// RUN: sed '/[/][/] NORM1$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=LONELY
// LONELY: error: stage 0, update: all_reduce sum of 64 bytes of f32 over {"pp"} is never issued by stage 1, which issues 0 of 1 in update{{$}}
// LONELY: note: stage 1 is here{{$}}
// RUN: sed '/[/][/] NORM$/p; /[/][/] NORM1$/p' %s | sed '/[/][/] NORM$/{n;s/over "pp"/over "pp" stages [0, 1]/}' | sed '/[/][/] NORM1$/{s/over "pp"/over "pp" stages [0, 1]/;n;s/over "pp" stages [[]0, 1[]]/over "pp"/}' | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=CROSSED
// CROSSED: error: stage 0, update: deadlock: 2 stages wait for each other in collectives{{$}}
// CROSSED: note: stage 0 waits in all_reduce sum of 64 bytes of f32 over {{.*}} for stage 1{{$}}
// CROSSED: note: stage 1 waits in all_reduce sum of 64 bytes of f32 over {{.*}} for stage 0{{$}}
// RUN: sed '/[/][/] FWD$/a collective all_reduce sum %%tmp outs(%%tmp : memref<16xf32>) over "pp" because "x" : memref<16xf32> -> ()' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: error: stage 0, forward: all_reduce joins stages, which run their microbatches at different times; legal in begin, update and evaluate{{$}}
