// Under `overlap gradients` the last microbatch's backward reduces accumulators as soon as nothing more is added to them; update loads
// what it left. Where the backward is split that is weight_grad's work.
// RUN: cat %S/../Dist/Inputs/gpt.mlir %s | sed 's/) 1 as "h"/) 2 as "h"/' > %t.mlir
// DEFINE: %{plan} =
// DEFINE: %{step} = hocket-opt %t.mlir --nn-pipeline="plan=%{plan} rows=2 microbatches=2" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition --dist-to-step
// REDEFINE: %{plan} = whole
// RUN: %{step} -o %t.step.mlir && hocket-opt --verify-roundtrip %t.step.mlir | FileCheck %s
// REDEFINE: %{plan} = halves
// RUN: %{step} | FileCheck %s --check-prefix=SPLIT
// REDEFINE: %{plan} = late
// RUN: %{step} | FileCheck %s --check-prefix=LATE --implicit-check-not=final
// One accumulator alone is reduced where it lies, and its sum is still made there: the last body has no copy.
// REDEFINE: %{plan} = shards
// RUN: %{step} | FileCheck %s --check-prefix=SHARDS
// REDEFINE: %{plan} = alone
// RUN: %{step} | FileCheck %s --check-prefix=ALONE
// RUN: %{step} --codegen-fuse --step-overlap --step-plan-memory --step-verify-program | FileCheck %s --check-prefix=PLACED --implicit-check-not=@copy_8
dist.mesh @m<"dp"=2>
dist.mesh @line<"pp"=2, "dp"=2>
dist.plan @whole for @gpt on @m {
  batch over "dp" microbatch 1 sequences
  zero 0 over "dp"
  overlap gradients
}
dist.plan @shards for @gpt on @m {
  batch over "dp" microbatch 1 sequences
  zero 1 over "dp"
  overlap gradients
}
dist.plan @halves for @gpt on @line {
  batch over "dp" microbatch 1 sequences
  stages over "pp" schedule "zb-h1"
  zero 0 over "dp"
  overlap gradients
}
dist.plan @late for @gpt on @m {
  batch over "dp" microbatch 1 sequences
  zero 0 over "dp"
  overlap parameters
}
dist.plan @alone for @gpt on @m {
  batch over "dp" microbatch 1 sequences
  zero 0 over "dp" bucket 1
  overlap gradients
}
// ALONE: body final_backward {
// ALONE: store %{{.*}}, %h.1.mlp.fc.weight.acc :
// ALONE-NEXT: %[[SUMMAND:.*]] = load %h.1.mlp.fc.weight.acc :
// ALONE-NEXT: %[[SUM:.*]] = collective all_reduce sum %[[SUMMAND]] over "dp"
// ALONE-NEXT: store %[[SUM]], %h.1.mlp.fc.weight.acc
// ALONE: body update {
// ALONE: load %h.1.mlp.fc.weight.acc
// PLACED: body final_backward {
// PLACED: gemm {{.*}} add %h.1.mlp.fc.weight.acc {{.*}} outs(%h.1.mlp.fc.weight.acc
// PLACED: collective all_reduce sum %h.1.mlp.fc.weight.acc outs(%h.1.mlp.fc.weight.acc {{.*}} on "gradients"
// PLACED: await "gradients"
// PLACED: body update {

// Out of a bucket each gradient goes to where its accumulator lies.
// CHECK-NOT: .reduced
// CHECK: body final_backward {
// CHECK: store {{.*}}.acc
// CHECK: %[[SUM:.*]] = collective all_reduce sum {{.*}} over "dp"
// CHECK-NEXT: %[[PART:.*]] = part %[[SUM]]
// CHECK-NEXT: store %[[PART]], %{{.*}}.acc
// CHECK: body update {
// CHECK-NOT: .reduced
// CHECK-NOT: collective all_reduce sum {{.*}}.acc.value over "dp" because "batch over dp: the gradient
// CHECK: schedule "train"
// CHECK: compute: backward microbatch 0
// CHECK: compute: final_backward microbatch 1

// What a rank keeps of a sum is no accumulator.
// SHARDS: buffer accumulator "{{.*}}.reduced{{.*}}" in arena state value
// SHARDS: body final_backward {
// SHARDS: collective reduce_scatter sum {{.*}} over "dp"
// SHARDS-NEXT: store {{.*}}.reduced
// SHARDS: body update {
// SHARDS: load %{{.*}}.reduced

// SPLIT: body backward {
// SPLIT-NOT: over "dp"
// SPLIT: body weight_grad {
// SPLIT-NOT: over "dp"
// SPLIT: body final_weight_grad {
// SPLIT: over "dp"
// SPLIT: compute: backward microbatch 1
// SPLIT: compute: final_weight_grad microbatch 1

// LATE: body update {
// LATE: collective all_reduce sum {{.*}} over "dp" because "batch over dp: the gradient
