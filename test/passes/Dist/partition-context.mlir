// Context parallelism of a Llama layer: what attention needs of other ranks' keys, and nothing else but sums of gradients in update.
// RUN: sed 's/?x5x/?x8x/g' %S/Inputs/llama.mlir > %t.mlir.model && cat %t.mlir.model %s > %t.mlir
// DEFINE: %{plan} =
// DEFINE: %{collectives} = hocket-opt %t.mlir --nn-pipeline="plan=%{plan} rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition --dist-verify-partition -o %t.local && hocket-opt --verify-roundtrip %t.local | sed -n -f %S/Inputs/collectives.sed
// REDEFINE: %{plan} = gathered
// RUN: %{collectives} | FileCheck %s --check-prefix=GATHERED
// REDEFINE: %{plan} = around
// RUN: %{collectives} | FileCheck %s --check-prefix=RING
// REDEFINE: %{plan} = heads
// RUN: %{collectives} | FileCheck %s --check-prefix=HEADS
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=around rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition | FileCheck %s --check-prefix=LOCAL
dist.mesh @m<"cp"=2>
dist.plan @gathered for @gpt on @m {
  batch microbatch 4 sequences
  context over "cp" all_gather
}
dist.plan @around for @gpt on @m {
  batch microbatch 4 sequences
  context over "cp" ring
}
dist.plan @heads for @gpt on @m {
  batch microbatch 4 sequences
  context over "cp" all_to_all
}

// GATHERED: all_gather "cp" tensor<4x8x2x4xf32> forward : context over cp all_gather: attention of layers.0.attn needs t whole
// GATHERED-NEXT: all_gather "cp" tensor<4x8x2x4xf32> forward : context over cp all_gather: attention of layers.0.attn needs t whole
// GATHERED-NEXT: all_gather "cp" tensor<4x8x2x4xf32> backward : context over cp all_gather: attention_grad of layers.0.attn needs t whole
// GATHERED-NEXT: all_gather "cp" tensor<4x8x2x4xf32> backward : context over cp all_gather: attention_grad of layers.0.attn needs t whole
// GATHERED-NEXT: reduce_scatter "cp" tensor<4x4x2x4xf32> backward : context over cp all_gather: attention_grad of layers.0.attn sums over s=8
// GATHERED-NEXT: reduce_scatter "cp" tensor<4x4x2x4xf32> backward : context over cp all_gather: attention_grad of layers.0.attn sums over s=8
// GATHERED-NOT: {{forward|backward|weight_grad}} :
// GATHERED: all_reduce "cp" tensor<11x8xf32> : context over cp all_gather: the gradient of embed is a sum over tokens

// RING: shift "cp" tensor<4x4x2x4xf32> forward : context over cp ring: attention of layers.0.attn sees the keys of all ranks
// RING-NEXT: shift "cp" tensor<4x4x2x4xf32> forward : context over cp ring: attention of layers.0.attn sees the keys of all ranks
// RING-NEXT: shift "cp" tensor<4x4x2x4xf32> backward : context over cp ring: attention_grad of layers.0.attn sees the keys of all ranks
// RING-NEXT: shift "cp" tensor<4x4x2x4xf32> backward : context over cp ring: attention_grad of layers.0.attn sees the keys of all ranks
// RING-NEXT: shift "cp" tensor<4x4x2x4xf32> backward : context over cp ring: attention_grad of layers.0.attn sees the keys of all ranks
// RING-NEXT: shift "cp" tensor<4x4x2x4xf32> backward : context over cp ring: attention_grad of layers.0.attn sees the keys of all ranks
// RING-NOT: {{forward|backward|weight_grad}} :
// RING: all_reduce "cp" tensor<11x8xf32> : context over cp ring: the gradient of embed is a sum over tokens

// HEADS: all_to_all "cp" tensor<4x8x1x4xf32> forward : context over cp all_to_all: attention of layers.0.attn needs t split otherwise
// HEADS-NEXT: all_to_all "cp" tensor<4x8x1x2x4xf32> forward : context over cp all_to_all: attention of layers.0.attn needs s split otherwise
// HEADS-NEXT: all_to_all "cp" tensor<4x8x1x4xf32> forward : context over cp all_to_all: attention of layers.0.attn needs t split otherwise
// HEADS-NEXT: all_to_all "cp" tensor<4x4x2x2x4xf32> forward : context over cp all_to_all: linear of layers.0.attn.o needs c split otherwise
// HEADS-NEXT: all_to_all "cp" tensor<4x8x1x2x4xf32> backward : context over cp all_to_all: attention_grad of layers.0.attn needs s split otherwise
// HEADS-NEXT: all_to_all "cp" tensor<4x4x2x4xf32> backward : context over cp all_to_all: rope of layers.0.attn needs n split otherwise
// HEADS-NEXT: all_to_all "cp" tensor<4x4x2x2x4xf32> backward : context over cp all_to_all: rope of layers.0.attn needs n split otherwise
// HEADS-NEXT: all_to_all "cp" tensor<4x4x2x4xf32> backward : context over cp all_to_all: stack of layers.0.attn needs d2 split otherwise
// HEADS-NOT: {{forward|backward|weight_grad}} :
// HEADS: all_reduce "cp" tensor<11x8xf32> : context over cp all_to_all: the gradient of embed is a sum over tokens

// Inputs and positions are in one order; a rank finds the positions of another's block itself.
// LOCAL: slot input "tokens" : tensor<4x4xi32> zigzag 2 on
// LOCAL: slot input "next.all" : tensor<1x4x4xi32> zigzag 2 on
// LOCAL: positions offset %offset_cp zigzag 2 of 8 : tensor<4x4xi32> forward
// LOCAL: %[[BEHIND:.*]] = dist.offset of 8 over "cp" behind 1
// LOCAL: positions offset %[[BEHIND]] zigzag 2 of 8 : tensor<4x4xi32> in "layers.0.attn" forward
// LOCAL: attention {{.*}} ring : {{.*}} in "layers.0.attn" forward
// LOCAL: attention {{.*}} ring : {{.*}} in "layers.0.attn" forward
// LOCAL-NEXT: attention_merge {{.*}} in "layers.0.attn" forward
