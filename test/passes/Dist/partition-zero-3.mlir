// ZeRO-2 scatters gradients where they are made. ZeRO-3 gathers what it splits for each use, forward and again backward; kept, for the
// forward alone; or once, in begin.
// RUN: cat %S/Inputs/gpt.mlir %s > %t.mlir
// DEFINE: %{plan} =
// DEFINE: %{collectives} = hocket-opt %t.mlir --nn-pipeline="plan=%{plan} rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition -o %t.local.mlir && hocket-opt --verify-roundtrip %t.local.mlir | sed -n -f %S/Inputs/collectives.sed | grep -v all_reduce
// REDEFINE: %{plan} = two
// RUN: %{collectives} | FileCheck %s --check-prefix=TWO
// REDEFINE: %{plan} = per_use
// RUN: %{collectives} | FileCheck %s --check-prefix=USE
// REDEFINE: %{plan} = kept
// RUN: %{collectives} | FileCheck %s --check-prefix=KEPT
// REDEFINE: %{plan} = once
// RUN: %{collectives} | FileCheck %s --check-prefix=ONCE
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @two for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  zero 2 over "dp"
}
dist.plan @per_use for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  zero 3 over "dp" gather per_use
}
dist.plan @kept for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  zero 3 over "dp" gather kept
}
dist.plan @once for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  zero 3 over "dp" gather once
}
// TWO: reduce_scatter "dp" tensor<13x4xf32> weight_grad : zero 2 over dp: the gradient of wte is a sum over sequences
// TWO-NEXT: reduce_scatter "dp" tensor<5x8xf32> weight_grad : zero 2 over dp: the gradient of h.0.mlp.proj.weight is a sum over sequences
// TWO-NEXT: reduce_scatter "dp" tensor<4x10xf32> weight_grad : zero 2 over dp: the gradient of h.0.mlp.fc.weight is a sum over sequences
// TWO-NEXT: reduce_scatter "dp" tensor<2x2x8xf32> weight_grad : zero 2 over dp: the gradient of h.0.attn.proj.weight is a sum over sequences
// TWO-NEXT: reduce_scatter "dp" tensor<4x3x4x2xf32> weight_grad : zero 2 over dp: the gradient of h.0.attn.qkv.weight is a sum over sequences
// TWO-NEXT: reduce_scatter "dp" tensor<13x4xf32> weight_grad : zero 2 over dp: the gradient of wte is a sum over sequences
// TWO-NEXT: all_gather "dp" tensor<13x8xf32> : zero 2 over dp: param wte at rest is whole over dp
// TWO-COUNT-4: all_gather "dp"
// TWO-NOT: all_gather

// USE: all_gather "dp" tensor<13x8xf32> forward : zero 3 over dp gather per_use: embedding of wte#0 uses wte
// USE-NEXT: all_gather "dp" tensor<8x3x4x2xf32> forward : zero 3 over dp gather per_use: linear of h.0.attn.qkv uses h.0.attn.qkv.weight
// USE-COUNT-4: all_gather "dp" {{.*}} forward
// USE-NEXT: all_gather "dp" tensor<13x8xf32> backward : zero 3 over dp gather per_use: matmul of wte#1 uses wte
// USE-NEXT: reduce_scatter "dp" tensor<13x4xf32> weight_grad : zero 3 over dp gather per_use: the gradient of wte is a sum over sequences
// USE-NEXT: all_gather "dp" tensor<10x8xf32> backward : zero 3 over dp gather per_use: matmul of h.0.mlp.proj uses h.0.mlp.proj.weight
// USE-COUNT-3: all_gather "dp" {{.*}} backward
// USE-NEXT: reduce_scatter "dp" tensor<4x3x4x2xf32> weight_grad
// USE-NEXT: reduce_scatter "dp" tensor<13x4xf32> weight_grad
// USE-NOT: all_gather

// KEPT-COUNT-6: all_gather "dp" {{.*}} forward
// KEPT-NOT: all_gather

// ONCE: all_gather "dp" tensor<13x8xf32> : zero 3 over dp gather once: all microbatches use wte
// ONCE-COUNT-4: all_gather "dp" {{.*}}: all microbatches use h.0
// ONCE-NOT: all_gather
