// ZeRO-1: gradients of large parameters are scattered, optimizer state stays split, new parameters are gathered.
// RUN: cat %S/Inputs/gpt.mlir %s | hocket-opt --nn-pipeline="plan=zero rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition -o %t
// RUN: hocket-opt --verify-roundtrip %t | sed -n -f %S/Inputs/collectives.sed | FileCheck %s --check-prefix=CHECK
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @zero for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  zero 1 over "dp"
}
// CHECK: reduce_scatter "dp" tensor<13x4xf32> : zero 1 over dp: the gradient of wte is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<3x8xf32> : batch over dp: the gradient of wpe is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.ln_1.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.ln_1.bias is a sum over sequences
// CHECK-NEXT: reduce_scatter "dp" tensor<4x3x4x2xf32> : zero 1 over dp: the gradient of h.0.attn.qkv.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<3x4x2xf32> : batch over dp: the gradient of h.0.attn.qkv.bias is a sum over sequences
// CHECK-NEXT: reduce_scatter "dp" tensor<2x2x8xf32> : zero 1 over dp: the gradient of h.0.attn.proj.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.attn.proj.bias is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.ln_2.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.ln_2.bias is a sum over sequences
// CHECK-NEXT: reduce_scatter "dp" tensor<4x10xf32> : zero 1 over dp: the gradient of h.0.mlp.fc.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<10xf32> : batch over dp: the gradient of h.0.mlp.fc.bias is a sum over sequences
// CHECK-NEXT: reduce_scatter "dp" tensor<5x8xf32> : zero 1 over dp: the gradient of h.0.mlp.proj.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of h.0.mlp.proj.bias is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of ln_f.weight is a sum over sequences
// CHECK-NEXT: all_reduce "dp" tensor<8xf32> : batch over dp: the gradient of ln_f.bias is a sum over sequences
// CHECK-NEXT: all_gather "dp" tensor<13x8xf32> : zero 1 over dp: param wte at rest is whole over dp
// CHECK-NEXT: all_gather "dp" tensor<8x3x4x2xf32> : zero 1 over dp: param h.0.attn.qkv.weight at rest is whole over dp
// CHECK-NEXT: all_gather "dp" tensor<4x2x8xf32> : zero 1 over dp: param h.0.attn.proj.weight at rest is whole over dp
// CHECK-NEXT: all_gather "dp" tensor<8x10xf32> : zero 1 over dp: param h.0.mlp.fc.weight at rest is whole over dp
// CHECK-NEXT: all_gather "dp" tensor<10x8xf32> : zero 1 over dp: param h.0.mlp.proj.weight at rest is whole over dp
// CHECK-NOT: {{.}}
