// Gathers of what is loaded go with the first that is needed, scatters with the last; bucket 1 leaves each alone; nothing goes beyond
// the bucket. Each tensor's piece lies behind that of the one before, for every rank.
// RUN: cat %S/../Dist/Inputs/gpt.mlir %s > %t.mlir
// DEFINE: %{plan} =
// DEFINE: %{step} = hocket-opt %t.mlir --nn-pipeline="plan=%{plan} rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition --dist-to-step
// REDEFINE: %{plan} = together
// RUN: %{step} -o %t.step.mlir && hocket-opt --verify-roundtrip %t.step.mlir | FileCheck %s
// REDEFINE: %{plan} = alone
// RUN: %{step} | FileCheck %s --check-prefix=ALONE
dist.mesh @m<"dp"=2>
dist.plan @together for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  zero 3 over "dp" gather per_use
}
dist.plan @alone for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  zero 3 over "dp" gather per_use bucket 1
}
// CHECK: body forward {
// CHECK: place %{{.*}} pieces 1 first 0 : tensor<13x4xf32> -> tensor<[[ALL:[0-9]+]]xf32>
// CHECK-NEXT: place %{{.*}} pieces 1 first 52 in %{{.*}} : tensor<4x3x4x2xf32>, tensor<[[ALL]]xf32> -> tensor<[[ALL]]xf32>
// CHECK: collective all_gather
// CHECK-NEXT: part %{{.*}} pieces 2 first 0 : tensor<2x[[ALL]]xf32> -> tensor<2x13x4xf32>
// CHECK-NOT: collective all_gather
// CHECK: body backward {
// CHECK: collective all_gather
// CHECK-NOT: collective all_gather
// CHECK: place %{{.*}} pieces 2 first 0
// CHECK: collective reduce_scatter
// CHECK-NOT: collective reduce_scatter
// CHECK: body update {

// ALONE-NOT: place
// ALONE: body forward {
// ALONE-COUNT-6: collective all_gather
// ALONE: body backward {
// ALONE-NOT: place
