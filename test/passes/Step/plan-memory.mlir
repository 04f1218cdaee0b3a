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
// CHECK-SAME: arena 256 slots 0 of 0 at 256
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
