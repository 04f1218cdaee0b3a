// A small planned program with reductions beside the backward, and what step-verify-program says when one line of it is damaged: each
// RUN line replaces the line that ends in the named mark.
// RUN: hocket-opt %s --verify-roundtrip --step-verify-program | FileCheck %s
// CHECK: body final_backward

nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @m<"dp"=2>
dist.plan @p for @g on @m {
  batch over "dp" microbatch 1 sequences
  zero 0 over "dp"
  overlap gradients
}
func.func private @k_zero() -> tensor<16xf32>
func.func private @k_one(tensor<16xf32>) -> tensor<16xf32>
func.func private @k_sum(tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> attributes {hocket.in_place = array<i64: 0, 0>}

step.job @j of @g with @r under @p rows 1 microbatches 2 sequence 4 vocabulary 8 parameters 64 stages 1 layers ["h.0"]
step.program @s0 under @p stage 0 computes ["h.0"] microbatches 2 arena 512 slots 1 of 64 at 448 {
  %w = buffer parameter "w" in arena offset 0 state param init zeros : memref<16xf32>
  %a = buffer accumulator "a.acc" in arena offset 64 state accumulator : memref<16xf32>
  %b = buffer accumulator "b.acc" in arena offset 128 state accumulator : memref<16xf32>
  %ra = buffer accumulator "a.reduced" in arena offset 192 state value : memref<16xf32>
  %rb = buffer accumulator "b.reduced" in arena offset 256 state value : memref<16xf32>
  %other = buffer workspace "other" in arena offset 320 : memref<16xf32>
  %x = buffer communication "x" in arena offset 384 : memref<16xf32> // X
  %act = buffer activation "act" in slot offset 0 : memref<16xf32>
  body begin {
    launch @k_zero() outs(%a : memref<16xf32>) : () -> ()
    launch @k_zero() outs(%b : memref<16xf32>) : () -> ()
  }
  body forward {
    launch @k_one(%w) outs(%act : memref<16xf32>) : (memref<16xf32>) -> () in "h.0"
  }
  body backward {
    launch @k_sum(%a, %act) outs(%a : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0" backward
    launch @k_sum(%b, %act) outs(%b : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0" backward
  }
  body final_backward {
    launch @k_sum(%a, %act) outs(%a : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0" backward
    collective all_reduce sum %a outs(%ra : memref<16xf32>) over "dp" on "gradients" because "sum" : memref<16xf32> -> () in "h.0" // FIRST
    launch @k_sum(%b, %act) outs(%b : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> () in "h.0" backward // SUM
    collective all_reduce sum %b outs(%rb : memref<16xf32>) over "dp" on "gradients" because "sum" : memref<16xf32> -> () in "h.0" // SECOND
    launch @k_one(%act) outs(%other : memref<16xf32>) : (memref<16xf32>) -> () in "h.0" // BESIDE
    await "gradients" 1 // AWAIT
    launch @k_one(%ra) outs(%other : memref<16xf32>) : (memref<16xf32>) -> () in "h.0" // READ
    await "gradients" 2 // LAST
  }
  body update {
    launch @k_sum(%w, %ra) outs(%w : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> ()
    launch @k_sum(%w, %rb) outs(%w : memref<16xf32>) : (memref<16xf32>, memref<16xf32>) -> ()
  }
  schedule "train" <streams "compute" {
    compute: begin
    compute: forward microbatch 0 slot 0
    compute: backward microbatch 0 slot 0 // ROW0
    compute: forward microbatch 1 slot 0
    compute: final_backward microbatch 1 slot 0 // ROW1
    compute: update
  }>
}

// A dropped await: what reads the result, and what is never awaited.
// RUN: sed '/[/][/] AWAIT$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: stage 0, final_backward: one of h.0 reads 'a.reduced', of which all_reduce of h.0 on stream "gradients" may still write 'a.reduced' at bytes 192 to 255 and is not awaited{{$}}
// EARLY: note: started here
// RUN: sed '/[/][/] LAST$/d' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: error: stage 0, final_backward: all_reduce of h.0 on stream "gradients" is not awaited before the body ends; 1 of 2 ops there are not{{$}}
// NEVER: note: the body is here

// Too early by one: of two ops the first is awaited where the second one's result is read.
// RUN: sed '/[/][/] READ$/s/%ra/%rb/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: stage 0, final_backward: one of h.0 reads 'b.reduced', of which all_reduce of h.0 on stream "gradients" may still write 'b.reduced' at bytes 256 to 319 and is not awaited{{$}}

// Buffers that something else is given while they are in flight: written over what is read, and over what is written.
// RUN: sed '/[/][/] BESIDE$/s/outs(%other/outs(%a/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=READING
// READING: error: stage 0, final_backward: one of h.0 writes 'a.acc', of which all_reduce of h.0 on stream "gradients" may still read 'a.acc' at bytes 64 to 127 and is not awaited{{$}}
// RUN: sed '/[/][/] X$/s/384/192/; /[/][/] X$/s/$/ lies over a.reduced/; /[/][/] BESIDE$/s/outs(%other/outs(%x/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=WRITING
// WRITING: error: stage 0, final_backward: one of h.0 writes 'x', of which all_reduce of h.0 on stream "gradients" may still write 'a.reduced' at bytes 192 to 255 and is not awaited{{$}}

// The sum that a reduction reads, added to afterwards.
// RUN: sed '/[/][/] SUM$/s/%b/%a/g' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=ADDED
// ADDED: error: stage 0, final_backward: sum of h.0 writes 'a.acc', of which all_reduce of h.0 on stream "gradients" may still read 'a.acc' at bytes 64 to 127 and is not awaited{{$}}

// Streams do not wait for each other.
// RUN: sed '/[/][/] SECOND$/s/%b/%ra/; /[/][/] SECOND$/s/"gradients"/"parameters"/; /[/][/] LAST$/s/.*/await "gradients" 1 await "parameters" 1/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: stage 0, final_backward: all_reduce of h.0 reads 'a.reduced', of which all_reduce of h.0 on stream "gradients" may still write 'a.reduced' at bytes 192 to 255 and is not awaited{{$}}

// More than were started.
// RUN: sed '/[/][/] LAST$/s/2/3/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: error: stage 0, final_backward: awaits 3 ops on stream "gradients", of which 2 have been started{{$}}
// MORE: note: the last one starts here

// The last microbatch, and no other, runs the final body.
// RUN: sed '/[/][/] ROW0$/s/backward/final_backward/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=SOON
// SOON: error: stage 0: schedule 'train' runs final_backward of chunk 0 for microbatch 0; it is for the last one, 1, in training{{$}}
// RUN: sed '/[/][/] ROW1$/s/final_backward/backward/' %s | not hocket-opt --step-verify-program 2>&1 | FileCheck %s --check-prefix=ORDINARY
// ORDINARY: error: stage 0: schedule 'train' runs backward of chunk 0 for the last microbatch, for which there is final_backward{{$}}
