// Communication kernels of a body that can be at work together, where the semantics state how many a device keeps. On the program of
// verify-streams.mlir: one stream of reductions needs one place.
// RUN: hocket-opt %S/verify-streams.mlir --step-verify-program="semantics=nccl:1" -o /dev/null
// Two streams need two.
// RUN: sed '/[/][/] SECOND$/s/"gradients"/"parameters"/; /[/][/] LAST$/s/.*/await "gradients" 1 await "parameters" 1/' %S/verify-streams.mlir > %t.two.mlir
// RUN: hocket-opt %t.two.mlir --step-verify-program="semantics=nccl:2" -o /dev/null
// RUN: hocket-opt %t.two.mlir --step-verify-program="semantics=nccl" -o /dev/null
// RUN: not hocket-opt %t.two.mlir --step-verify-program="semantics=nccl:1" -o /dev/null 2>&1 | FileCheck %s --check-prefix TWO
// TWO: error: stage 0, final_backward: 2 communication kernels can be at work at a time: 0 messages and collectives on "gradients", "parameters"; nccl:1 states 1, and which of them start is not the same on all ranks{{$}}
// TWO: note: legal: nccl:2 or more, or a plan that overlaps less{{$}}
// One that is awaited first needs none; one that the body issues itself does.
// RUN: sed '/[/][/] SECOND$/s/.*/await "gradients" 1/; /[/][/] LAST$/s/.*/collective all_reduce sum %%b outs(%%rb : memref<16xf32>) over "dp" on "parameters" because "sum" : memref<16xf32> -> () await "parameters" 1/' %S/verify-streams.mlir > %t.one.mlir
// RUN: hocket-opt %t.one.mlir --step-verify-program="semantics=nccl:1" -o /dev/null
// RUN: sed '/[/][/] BESIDE$/s/.*/collective all_reduce sum %%act outs(%%other : memref<16xf32>) over "dp" because "sum" : memref<16xf32> -> () in "h.0"/' %S/verify-streams.mlir > %t.itself.mlir
// RUN: not hocket-opt %t.itself.mlir --step-verify-program="semantics=nccl:1" -o /dev/null 2>&1 | FileCheck %s --check-prefix ITSELF
// ITSELF: error: stage 0, final_backward: 2 communication kernels can be at work at a time: 0 messages and collectives on "gradients" and the stream that computes; nccl:1 states 1, and which of them start is not the same on all ranks{{$}}
// RUN: not hocket-opt %t.two.mlir --step-verify-program="semantics=nccl:0" -o /dev/null 2>&1 | FileCheck %s --check-prefix NONE
// NONE: error: unknown semantics 'nccl:0'; known: rendezvous, nccl, nccl:R (R communication kernels at work on a rank at a time, 1 or more), buffered:K (K messages, 1 or more){{$}}
