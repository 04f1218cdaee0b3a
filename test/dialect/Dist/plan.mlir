// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
dist.mesh @cluster<"pp"=2, "dp"=2, "cp"=2, "tp"=4>
// CHECK-LABEL: dist.plan @all for @gpt on @cluster {
dist.plan @all for @gpt on @cluster {
  // CHECK-NEXT: batch over {"dp", "cp"} microbatch 2 sequences
  batch over {"dp", "cp"} microbatch 2 sequences
  // CHECK-NEXT: split "h.*.attn.qkv.weight" dim 2 over "tp"
  split "h.*.attn.qkv.weight" dim 2 over {"tp"}
  // CHECK-NEXT: split "kv" dim 1 over {"tp":(1)2}
  split "kv" dim 1 over {"tp":(1)2}
  // CHECK-NEXT: split megatron over "tp"
  split megatron over "tp"
  // CHECK-NEXT: sequence over "tp" keep gathered
  sequence over "tp" keep gathered
  // CHECK-NEXT: stages over "pp" schedule "1f1b"
  stages over "pp" schedule "1f1b"
  // CHECK-NEXT: zero 1 over {"dp", "cp"}
  zero 1 over {"dp", "cp"}
}
// CHECK-LABEL: dist.plan @plain
dist.plan @plain for @gpt on @cluster {
  // CHECK-NEXT: batch microbatch 1 sequences
  batch microbatch 1 sequences
  // CHECK-NEXT: split auto over "tp"
  split auto over "tp"
  // CHECK-NEXT: sequence over "tp"{{$}}
  sequence over "tp"
  // CHECK-NEXT: context over "cp" all_to_all
  context over "cp" all_to_all
  // CHECK-NEXT: stages over "pp" schedule gpipe chunks 2
  stages over "pp" schedule "gpipe" chunks 2
}
// CHECK-LABEL: dist.plan @memory
dist.plan @memory for @gpt on @cluster {
  // CHECK-NEXT: recompute "h.*.attn" selective
  recompute "h.*.attn" selective
  // CHECK-NEXT: recompute "h.0" full
  recompute "h.0" full
  // CHECK-NEXT: recompute auto{{$}}
  recompute auto
  // CHECK-NEXT: offload activations "h.*"
  offload activations "h.*"
  // CHECK-NEXT: offload optimizer_state{{$}}
  offload optimizer_state
  // CHECK-NEXT: offload parameters "wte"
  offload parameters "wte"
  // CHECK-NEXT: overlap gradients
  overlap gradients
  // CHECK-NEXT: overlap parameters
  overlap parameters
  // CHECK-NEXT: overlap activations
  overlap activations
}
// CHECK-LABEL: dist.plan @alone
dist.plan @alone for @gpt on @cluster {
  // CHECK-NEXT: stages over "pp" schedule "1f1b"
  stages over "pp"
}
// CHECK-LABEL: dist.plan @balanced
dist.plan @balanced for @gpt on @cluster {
  // CHECK-NEXT: stages over "pp" balanced schedule "zb-v" chunks 2
  stages over "pp" balanced schedule "zb-v" chunks 2
}
// CHECK-LABEL: dist.plan @cut
dist.plan @cut for @gpt on @cluster {
  // CHECK-NEXT: stages over "pp" cuts [8, 7] schedule file("table.txt")
  stages over "pp" cuts [8, 7] schedule file("table.txt")
}
// CHECK-LABEL: dist.plan @long
dist.plan @long for @gpt on @cluster {
  batch over "dp" microbatch 1 sequences
  // CHECK: context over "cp" ring
  context over "cp" ring
  // CHECK-NEXT: zero 1 over {"dp", "cp"}
  zero 1 over {"dp", "cp"}
}
// CHECK-LABEL: dist.plan @fully_split
dist.plan @fully_split for @gpt on @cluster {
  batch over "dp" microbatch 1 sequences
  // CHECK: zero 3 over "dp" gather per_use bucket 65536
  zero 3 over "dp" gather per_use bucket 65536
}
// CHECK-LABEL: dist.plan @gathered_once
dist.plan @gathered_once for @gpt on @cluster {
  batch over "dp" microbatch 1 sequences
  // CHECK: zero 3 over "dp" gather once_partial
  zero 3 over "dp" gather once_partial
}
