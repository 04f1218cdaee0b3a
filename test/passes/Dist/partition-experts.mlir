// Experts over the batch's axis: two all_to_alls forward and two backward a layer, each of e b c h elements (4 experts, 8 sequences in
// all, 2 places, 8 wide; a rank holds half), and no sum of experts' gradients, which see all sequences where they are.
// RUN: cat %S/Inputs/moe.mlir %s | hocket-opt --nn-pipeline="plan=ep rows=8" --dist-apply-plan --dist-propagate-shardings --dist-partition --dist-verify-partition -o %t
// RUN: hocket-opt --verify-roundtrip %t | sed -n -f %S/Inputs/collectives.sed | FileCheck %s --check-prefix=CHECK
dist.mesh @m<"dp"=2>
dist.plan @ep for @moe on @m {
  batch over "dp" microbatch 4 sequences
  experts over "dp"
}
// CHECK: all_to_all "dp" tensor<2x8x2x8xf32> forward : experts over dp: matmul of h.0.experts.up needs b split otherwise
// CHECK-NEXT: all_to_all "dp" tensor<4x4x2x8xf32> forward : experts over dp: combine of h.0 needs e split otherwise
// CHECK-NEXT: all_to_all "dp" tensor<2x8x2x8xf32> backward : experts over dp: matmul of h.0.experts.down needs b split otherwise
// CHECK-NEXT: all_to_all "dp" tensor<4x4x2x8xf32> backward : experts over dp: combine of h.0 needs e split otherwise
// CHECK-NEXT: all_reduce "dp" tensor<13x8xf32> : batch over dp: the gradient of wte is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8x4xf32> : batch over dp: the gradient of h.0.gate.weight is a sum over sequences
// CHECK-NOT: {{.}}
