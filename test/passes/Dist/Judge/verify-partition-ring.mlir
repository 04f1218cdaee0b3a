// Blocks that go around a ring, and the order of tokens: what is not as it must be is refused.
// RUN: sed 's/?x5x/?x8x/g' %S/../Inputs/llama.mlir > %t.mlir.model && cat %t.mlir.model %s > %t.mlir
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=around rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition -o %t.local
// RUN: hocket-opt --verify-roundtrip %t.local --dist-verify-partition -o %t.same && diff %t.local %t.same

// One block twice, the other never.
// RUN: sed 's/attention_merge %\([^,]*\), %\([^,]*\), %[^,]*, %[^ ]* :/attention_merge %\1, %\2, %\1, %\2 :/' %t.local > %t.twice
// RUN: not hocket-opt %t.twice --dist-verify-partition 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'nn.attention_merge' op joins the rank's own block, over block 0 of 0 to 1 with the rank's own block, over block 0 of 0 to 1; parts of one value, each block once, are expected{{$}}
// TWICE: note: {{.*}}

// Positions of another block than the keys are.
// RUN: sed 's/ behind 1$//' %t.local > %t.positions
// RUN: not hocket-opt %t.positions --dist-verify-partition 2>&1 | FileCheck %s --check-prefix=POSITIONS
// POSITIONS: error: 'nn.attention' op takes keys of one block and values, positions or documents of another: the block of the rank 1 before, and the rank's own block{{$}}
// POSITIONS: error: 'nn.attention_grad' op takes keys of one block and values, positions or documents of another: the block of the rank 1 before, and the rank's own block{{$}}

// Only the own block.
// RUN: sed 's/linear %layers0_attn_attention_merge_0,/linear %layers0_attn_attention,/' %t.local > %t.own
// RUN: not hocket-opt %t.own --dist-verify-partition 2>&1 | FileCheck %s --check-prefix=OWN
// OWN: error: 'nn.linear' op takes operand 0 (%layers0_attn_attention), which is the rank's own block, over block 0 of 0 to 1; only the rank's own, over all blocks, is what it says it is a shard of{{$}}

// Labels in another order than tokens.
// RUN: sed 's/slot input "next" : tensor<4x4xi32> zigzag 2/slot input "next" : tensor<4x4xi32>/' %t.local > %t.order
// RUN: not hocket-opt %t.order --dist-verify-partition 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: 'nn.slot' op has its tokens in order, others in zigzag over 2 ranks{{$}}
// ORDER: note: others are these
dist.mesh @m<"cp"=2>
dist.plan @around for @gpt on @m {
  batch microbatch 4 sequences
  context over "cp" ring
}
