// A manual region in the local program: its ops in place, its converts as the collectives they name, with their cause. What the
// plan splits beside it (here the batch) it is split by too; its weights take their split from it.
// RUN: cat %S/Inputs/local.mlir %s | hocket-opt --nn-pipeline="plan=dp rows=4 microbatches=2" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition -o %t
// RUN: hocket-opt --verify-roundtrip --dist-verify-partition %t | FileCheck %s
// RUN: hocket-opt --verify-roundtrip %t | sed -n -f %S/Inputs/collectives.sed | FileCheck %s --check-prefix=SENT
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @dp for @gpt on @m {
  batch over "dp" microbatch 2 sequences
}
// CHECK: slot param "h.0.fc.weight" : tensor<8x6xf32> {{.*}} on #dist.shard<tensor<8x12xf32>, #r_tp>
// CHECK: slot param "h.0.proj.weight" : tensor<6x8xf32> {{.*}} on #dist.shard<tensor<12x8xf32>, #tp_r>
// CHECK-NOT: dist.local
// CHECK: linear {{.*}} : tensor<2x4x8xf32>, tensor<8x6xf32> -> tensor<2x4x6xf32> in "h.0" forward on [#dist.shard<tensor<4x4x12xf32>, #dp_r_tp>]
// CHECK-NEXT: gelu {{.*}} : tensor<2x4x6xf32>
// CHECK-NEXT: linear {{.*}} : tensor<2x4x6xf32>, tensor<6x8xf32> -> tensor<2x4x8xf32> in "h.0" forward on [#dist.shard<tensor<4x4x8xf32>, #dp_r_r_sum_tp>]
// CHECK-NEXT: dist.all_reduce sum {{.*}} over "tp" because "manual region of h.0: partial to invariant" : tensor<2x4x8xf32> -> tensor<2x4x8xf32> in "h.0" forward
// CHECK-NOT: dist.convert

// SENT: all_reduce "tp" tensor<2x4x8xf32> forward : manual region of h.0: partial to invariant
// SENT-NEXT: all_reduce "tp" tensor<2x4x8xf32> backward : manual region of h.0: partial to invariant
// SENT-NEXT: all_reduce "dp" tensor<16x8xf32> : batch over dp: the gradient of wte is a sum over sequences
// SENT-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.ln.weight is a sum over sequences
// SENT-NEXT: all_reduce "dp" tensor<8x6xf32> : batch over dp: the gradient of h.0.fc.weight is a sum over sequences
// SENT-NEXT: all_reduce "dp" tensor<6x8xf32> : batch over dp: the gradient of h.0.proj.weight is a sum over sequences
