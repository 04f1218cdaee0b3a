// RUN: hocket-opt %s --step-plan-memory | hocket-opt --verify-roundtrip | FileCheck %s --implicit-check-not=launch

nn.model @g(%t: tensor<?x4xi32>, %n: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "w" : tensor<8x8xf32> init zeros
  %e = embedding %t, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %s, %c = cross_entropy %e, %n : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %s, %c : tensor<f32>, tensor<i64>
}
dist.mesh @m<"dp"=2>
dist.plan @p for @g on @m {
  batch over "dp" microbatch 1 sequences
}
func.func private @k_sum(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> attributes {hocket.in_place = array<i64: 0, 0>}
func.func private @k_one(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func private @k_make() -> tensor<4x4xf32>
func.func private @k_part(tensor<4x4xf32>, i64) -> tensor<2x4xf32>
func.func private @k_half(tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32> attributes {hocket.in_place = array<i64: 0, 0>}
func.func private @k_pair(tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {hocket.in_place = array<i64: 0, 0, 1, 0>}

// A kernel that works in place on a parameter it also stores: no copy.
// CHECK-LABEL: step.program @in_place
// CHECK-SAME: arena 128 slots 0 of 0 at 128
// CHECK: launch @k_sum(%p, %q) outs(%p : memref<4x4xf32>)
step.program @in_place under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %a = load %p : memref<4x4xf32> -> tensor<4x4xf32>
    %b = load %q : memref<4x4xf32> -> tensor<4x4xf32>
    %c = launch @k_sum(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %c, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
}

// The second operand is not one that the kernel may write over.
// CHECK-LABEL: step.program @not_in_place
// CHECK: launch @k_sum(%p, %q) outs(%sum : memref<4x4xf32>)
// CHECK: launch @copy_4_4_f32(%sum) outs(%q : memref<4x4xf32>)
step.program @not_in_place under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %a = load %p : memref<4x4xf32> -> tensor<4x4xf32>
    %b = load %q : memref<4x4xf32> -> tensor<4x4xf32>
    %c = launch @k_sum(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %c, %q : tensor<4x4xf32>, memref<4x4xf32>
  }
}

// The operand appears twice, once where it may not be written over.
// CHECK-LABEL: step.program @twice
// CHECK: launch @k_sum(%p, %p) outs(%sum : memref<4x4xf32>)
// CHECK: launch @copy_4_4_f32(%sum) outs(%p : memref<4x4xf32>)
step.program @twice under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %a = load %p : memref<4x4xf32> -> tensor<4x4xf32>
    %c = launch @k_sum(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %c, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
}

// The buffer is loaded twice; the second load is used where the first may be written over.
// CHECK-LABEL: step.program @loaded_twice
// CHECK: launch @k_sum(%p, %p) outs(%sum : memref<4x4xf32>)
// CHECK: launch @copy_4_4_f32(%sum) outs(%p : memref<4x4xf32>)
step.program @loaded_twice under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %a = load %p : memref<4x4xf32> -> tensor<4x4xf32>
    %b = load %p : memref<4x4xf32> -> tensor<4x4xf32>
    %c = launch @k_sum(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %c, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
}

// The old value has a reader behind the store: it is copied out first.
// CHECK-LABEL: step.program @old_value
// CHECK: launch @copy_4_4_f32(%p) outs(%load : memref<4x4xf32>)
// CHECK: launch @k_one(%load) outs(%one : memref<4x4xf32>)
// CHECK: launch @copy_4_4_f32(%one) outs(%p : memref<4x4xf32>)
// CHECK: launch @k_one(%load) outs(%q : memref<4x4xf32>)
step.program @old_value under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %a = load %p : memref<4x4xf32> -> tensor<4x4xf32>
    %c = launch @k_one(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %c, %p : tensor<4x4xf32>, memref<4x4xf32>
    %d = launch @k_one(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %d, %q : tensor<4x4xf32>, memref<4x4xf32>
  }
}

// One value for two buffers: made in the first, copied to the second.
// CHECK-LABEL: step.program @both
// CHECK: launch @k_make() outs(%p : memref<4x4xf32>)
// CHECK: launch @copy_4_4_f32(%p) outs(%q : memref<4x4xf32>)
step.program @both under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %c = launch @k_make() : () -> (tensor<4x4xf32>)
    store %c, %p : tensor<4x4xf32>, memref<4x4xf32>
    store %c, %q : tensor<4x4xf32>, memref<4x4xf32>
  }
}

// A product is added to an accumulator where it lies.
// CHECK-LABEL: step.program @accumulate
// CHECK: gemm %q, %q add %p : memref<4x4xf32> outs(%p : memref<4x4xf32>)
step.program @accumulate under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %a = load %p : memref<4x4xf32> -> tensor<4x4xf32>
    %b = load %q : memref<4x4xf32> -> tensor<4x4xf32>
    %c = gemm %b, %b add %a : tensor<4x4xf32> mnk [4, 4, 4] leading [4, 4, 4] : tensor<4x4xf32>, tensor<4x4xf32> -> (tensor<4x4xf32>)
    store %c, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
}

// The accumulator is a factor too: the sum is made elsewhere.
// CHECK-LABEL: step.program @factor
// CHECK: launch @copy_4_4_f32(%p) outs(%gemm : memref<4x4xf32>)
// CHECK: gemm %p, %p add %gemm : memref<4x4xf32> outs(%gemm : memref<4x4xf32>)
// CHECK: launch @copy_4_4_f32(%gemm) outs(%p : memref<4x4xf32>)
step.program @factor under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %a = load %p : memref<4x4xf32> -> tensor<4x4xf32>
    %c = gemm %a, %a add %a : tensor<4x4xf32> mnk [4, 4, 4] leading [4, 4, 4] : tensor<4x4xf32>, tensor<4x4xf32> -> (tensor<4x4xf32>)
    store %c, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
}

// What an epilogue makes besides is made where it is kept, also beside an accumulator that is added to where it lies.
// CHECK-LABEL: step.program @epilogues
// CHECK: gemm %x, %w then bias_gelu(%b : memref<8xf32>) outs(%f, %before : memref<8x8xf32>, memref<8x8xf32>)
// CHECK: gemm transpose_a %x, %w add %a : memref<8x8xf32> then sum_b outs(%a, %s : memref<8x8xf32>, memref<8xf32>)
step.program @epilogues under @p stage 0 computes [] microbatches 2 {
  %x = buffer parameter "x" in arena state param : memref<8x8xf32>
  %w = buffer parameter "w" in arena state param : memref<8x8xf32>
  %b = buffer parameter "b" in arena state param : memref<8xf32>
  %f = buffer parameter "f" in arena state param : memref<8x8xf32>
  %before = buffer parameter "before" in arena state param : memref<8x8xf32>
  %a = buffer parameter "a" in arena state param : memref<8x8xf32>
  %s = buffer parameter "s" in arena state param : memref<8xf32>
  body update {
    %0 = load %x : memref<8x8xf32> -> tensor<8x8xf32>
    %1 = load %w : memref<8x8xf32> -> tensor<8x8xf32>
    %2 = load %b : memref<8xf32> -> tensor<8xf32>
    %3:2 = gemm %0, %1 then bias_gelu(%2 : tensor<8xf32>) mnk [8, 8, 8] leading [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32> -> (tensor<8x8xf32>, tensor<8x8xf32>)
    store %3#0, %f : tensor<8x8xf32>, memref<8x8xf32>
    store %3#1, %before : tensor<8x8xf32>, memref<8x8xf32>
    %4 = load %a : memref<8x8xf32> -> tensor<8x8xf32>
    %5:2 = gemm transpose_a %0, %1 add %4 : tensor<8x8xf32> then sum_b mnk [8, 8, 8] leading [8, 8, 8] : tensor<8x8xf32>, tensor<8x8xf32> -> (tensor<8x8xf32>, tensor<8xf32>)
    store %5#0, %a : tensor<8x8xf32>, memref<8x8xf32>
    store %5#1, %s : tensor<8xf32>, memref<8xf32>
  }
}

// ZeRO-1: the accumulator is scattered, the shard updated, the parameter gathered where it lies.
// CHECK-LABEL: step.program @zero1
// CHECK: collective reduce_scatter sum %q outs(%reduce_scatter : memref<2x4xf32>)
// CHECK: launch @k_part(%p) scalars(%{{.*}}) outs(%part : memref<2x4xf32>)
// CHECK: launch @k_half(%part, %reduce_scatter) outs(%half : memref<2x4xf32>)
// CHECK: collective all_gather sum %half outs(%p : memref<4x4xf32>)
step.program @zero1 under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %a = load %p : memref<4x4xf32> -> tensor<4x4xf32>
    %b = load %q : memref<4x4xf32> -> tensor<4x4xf32>
    %g = collective reduce_scatter sum %b over "dp" because "zero 1" : tensor<4x4xf32> -> (tensor<2x4xf32>)
    %at = rank_scalar offset of 4 over "dp"
    %s = launch @k_part(%a) scalars(%at) : (tensor<4x4xf32>) -> (tensor<2x4xf32>)
    %n = launch @k_half(%s, %g) : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>)
    %w = collective all_gather sum %n over "dp" because "zero 1" : tensor<2x4xf32> -> (tensor<4x4xf32>)
    store %w, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
}

// Values share bytes when each is made where the one before it dies, or after its death; two results never do.
// CHECK-LABEL: step.program @workspace
// CHECK-SAME: arena 256 slots 0 of 0 at 128
// CHECK-DAG: %make = buffer communication "make" in arena offset 128
// CHECK-DAG: %all_reduce = buffer communication "all_reduce" in arena offset 128
// CHECK-DAG: %pair = buffer workspace "pair" in arena offset 128
// CHECK-DAG: %pair.2 = buffer workspace "pair.2" in arena offset 192
// CHECK: launch @k_make() outs(%make : memref<4x4xf32>)
// CHECK: collective all_reduce sum %make outs(%all_reduce : memref<4x4xf32>)
// CHECK: launch @k_pair(%all_reduce) outs(%pair, %pair.2 : memref<4x4xf32>, memref<4x4xf32>)
// CHECK: launch @k_sum(%pair, %pair.2) outs(%p : memref<4x4xf32>)
step.program @workspace under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %q = buffer parameter "q" in arena state param : memref<4x4xf32>
  body update {
    %a = launch @k_make() : () -> (tensor<4x4xf32>)
    %b = collective all_reduce sum %a over "dp" because "x" : tensor<4x4xf32> -> (tensor<4x4xf32>)
    %c, %d = launch @k_pair(%b) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    %e = launch @k_sum(%c, %d) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %e, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
}

// Slots. `kept` lives from forward to backward; what is sent and what comes back share bytes, because the
// receive waits for the send; `mid` lies over neither operand of the op that makes it. The slots are free in update, whose
// workspace lies over them.
// CHECK-LABEL: step.program @shared
// CHECK-SAME: arena 448 slots 2 of 192 at 64
// CHECK: %out = buffer communication "out" in slot offset 0
// CHECK: %back_in = buffer communication "back_in" in slot offset 0
// CHECK: %kept = buffer activation "kept" in slot offset 64
// CHECK: %mid = buffer activation "mid" in slot offset 128
// CHECK-DAG: %make = buffer workspace "make" in arena offset 64
// CHECK-DAG: %make.2 = buffer workspace "make.2" in arena offset 128
// CHECK-DAG: %make.3 = buffer workspace "make.3" in arena offset 192
// CHECK: launch @k_make() outs(%kept
// CHECK: launch @k_one(%kept) outs(%out
// CHECK: launch @k_sum(%back_in, %kept) outs(%mid
// CHECK: launch @k_one(%mid) outs(%p
// CHECK: launch @k_make() outs(%make
// CHECK: launch @k_make() outs(%make.2
// CHECK: launch @k_make() outs(%make.3
// CHECK: launch @k_sum(%make, %make.2) outs(%sum
// CHECK: launch @k_sum(%sum, %make.3) outs(%p
step.program @shared under @p stage 0 computes [] microbatches 2 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %out = buffer communication "out" in slot : memref<4x4xf32>
  %back_in = buffer communication "back_in" in slot : memref<4x4xf32>
  %kept = buffer activation "kept" in slot : memref<4x4xf32>
  %mid = buffer activation "mid" in slot : memref<4x4xf32>
  body forward {
    %a = launch @k_make() : () -> (tensor<4x4xf32>)
    store %a, %kept : tensor<4x4xf32>, memref<4x4xf32>
    %b = launch @k_one(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %b, %out : tensor<4x4xf32>, memref<4x4xf32>
  }
  body backward {
    %g = load %back_in : memref<4x4xf32> -> tensor<4x4xf32>
    %k = load %kept : memref<4x4xf32> -> tensor<4x4xf32>
    %c = launch @k_sum(%g, %k) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %c, %mid : tensor<4x4xf32>, memref<4x4xf32>
  }
  body weight_grad {
    %m = load %mid : memref<4x4xf32> -> tensor<4x4xf32>
    %d = launch @k_one(%m) : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %d, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
  body update {
    %a = launch @k_make() : () -> (tensor<4x4xf32>)
    %b = launch @k_make() : () -> (tensor<4x4xf32>)
    %c = launch @k_make() : () -> (tensor<4x4xf32>)
    %d = launch @k_sum(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>)
    %e = launch @k_sum(%d, %c) : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %e, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
  message activation from 0 to 1 carries %out because "cut" : memref<4x4xf32>
  message gradient from 1 to 0 carries %back_in because "cut" : memref<4x4xf32>
  schedule "train" <streams "compute", "send_next", "receive_next" messages activation from 0 to 1, gradient from 1 to 0 {
    compute: forward microbatch 0 slot 0
    send_next: send activation to 1 microbatch 0 slot 0 after compute 1
    compute: forward microbatch 1 slot 1
    send_next: send activation to 1 microbatch 1 slot 1 after compute 2
    receive_next: receive gradient from 1 microbatch 0 slot 0 after send_next 1
    compute: backward microbatch 0 slot 0 after receive_next 1
    compute: weight_grad microbatch 0 slot 0
    receive_next: receive gradient from 1 microbatch 1 slot 1 after send_next 2
    compute: backward microbatch 1 slot 1 after receive_next 2
    compute: weight_grad microbatch 1 slot 1
    compute: update
  }>
}

// A gradient that may come while the activation is still being sent lies apart.
// CHECK-LABEL: step.program @apart
// CHECK-SAME: arena 192 slots 1 of 128 at 64
// CHECK: %out = buffer communication "out" in slot offset 0
// CHECK: %back_in = buffer communication "back_in" in slot offset 64
// CHECK: launch @k_make() outs(%out
// CHECK: launch @k_one(%back_in) outs(%p
step.program @apart under @p stage 0 computes [] microbatches 1 {
  %p = buffer parameter "p" in arena state param : memref<4x4xf32>
  %out = buffer communication "out" in slot : memref<4x4xf32>
  %back_in = buffer communication "back_in" in slot : memref<4x4xf32>
  body forward {
    %b = launch @k_make() : () -> (tensor<4x4xf32>)
    store %b, %out : tensor<4x4xf32>, memref<4x4xf32>
  }
  body backward {
    %g = load %back_in : memref<4x4xf32> -> tensor<4x4xf32>
    %c = launch @k_one(%g) : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
    store %c, %p : tensor<4x4xf32>, memref<4x4xf32>
  }
  message activation from 0 to 1 carries %out because "cut" : memref<4x4xf32>
  message gradient from 1 to 0 carries %back_in because "cut" : memref<4x4xf32>
  schedule "train" <streams "compute", "send_next", "receive_next" messages activation from 0 to 1, gradient from 1 to 0 {
    compute: forward microbatch 0 slot 0
    send_next: send activation to 1 microbatch 0 slot 0 after compute 1
    receive_next: receive gradient from 1 microbatch 0 slot 0 after compute 1
    compute: backward microbatch 0 slot 0 after receive_next 1
  }>
}
