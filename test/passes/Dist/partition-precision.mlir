// Gradients are rounded before they go over the data axes and widened behind; new parameters are rounded before they are gathered.
// RUN: sed 's/^  precision .*/  precision params bf16 compute bf16 accumulate f32 reduce bf16 master f32/' %S/Inputs/gpt.mlir > %t.gpt
// RUN: cat %t.gpt %s | hocket-opt --nn-pipeline="plan=zero rows=4" --dist-apply-plan=whole-below=256 --dist-propagate-shardings --dist-partition --dist-verify-partition -o %t
// RUN: hocket-opt --verify-roundtrip %t | sed -n -f %S/Inputs/collectives.sed | FileCheck %s --check-prefix=TRANSFERS
// RUN: FileCheck %s < %t
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @zero for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split megatron over "tp"
  zero 1 over "dp"
}
// TRANSFERS: all_reduce "tp" tensor<2x3x8xbf16> forward : split megatron over tp: embedding of wte#0 sums over v=13
// TRANSFERS: all_reduce "tp" tensor<2x3xf32> forward : split megatron over tp: row_sum_exp of wte#1 sums over v=13
// TRANSFERS: all_reduce "dp" tensor<8xbf16> : batch over dp: the gradient of h.0.ln_1.weight is a sum over sequences
// TRANSFERS: reduce_scatter "dp" tensor<4x3x2x2xbf16> : zero 1 over dp: the gradient of h.0.attn.qkv.weight is a sum over sequences
// TRANSFERS: all_gather "dp" tensor<8x3x2x2xbf16> : zero 1 over dp: param h.0.attn.qkv.weight at rest is whole over dp

// CHECK: slot param "h.0.attn.qkv.weight" : tensor<8x3x2x2xbf16> {{.*}} on #dist.shard<tensor<8x3x4x2xbf16>, #r_r_tp_r>
// CHECK: slot master "h.0.attn.qkv.weight" : tensor<4x3x2x2xf32> {{.*}} on #dist.shard<tensor<8x3x4x2xf32>, #dp_r_tp_r>
// CHECK: slot accumulator "h.0.attn.qkv.weight" : tensor<8x3x2x2xf32> on #dist.shard<tensor<8x3x4x2xf32>, #r_r_tp_r_sum_dp>
// CHECK: } update {
// CHECK: %[[ROUNDED:.*]] = cast summands %h.0.attn.qkv.weight.acc : tensor<8x3x2x2xf32> -> tensor<8x3x2x2xbf16> {{.*}}_sum_dp>]
// CHECK-NEXT: %[[JOINED:.*]] = dist.reduce_scatter sum %[[ROUNDED]] dim 0 over "dp"
// CHECK-NEXT: cast %[[JOINED]] : tensor<4x3x2x2xbf16> -> tensor<4x3x2x2xf32>
// CHECK: write master "h.0.attn.qkv.weight", %[[NEW:.*]] : tensor<4x3x2x2xf32>
// CHECK-NEXT: %[[PARAM:.*]] = cast %[[NEW]] : tensor<4x3x2x2xf32> -> tensor<4x3x2x2xbf16>
// CHECK-NEXT: dist.all_gather %[[PARAM]] dim 0 over "dp"
