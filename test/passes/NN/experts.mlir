// Experts in a training step that computes in bf16: the router in f32 all the same, weights of choices f32, gradients of its weight f32
// and never narrow; its load in an accumulator of its own, a part of the loss and of what ranks exchange, not of the norm.
// RUN: sed 's/  batch 8 sequences/&\n  precision params bf16 compute bf16 accumulate f32 reduce f32 master f32/' %S/../Dist/Inputs/moe.mlir > %t.mlir
// RUN: hocket-opt %t.mlir --nn-pipeline="rows=8" | FileCheck %s
// RUN: sed '/auxiliary_loss/d' %t.mlir | hocket-opt --nn-pipeline="rows=8" | FileCheck %s --check-prefix NONE
// CHECK: slot accumulator "h.0.load" : tensor<f32>
// CHECK: %h0_gate_cast = cast %wte_use0 : tensor<8x4x8xbf16> -> tensor<8x4x8xf32>
// CHECK-NEXT: %h0_gate_cast_0 = cast %h.0.gate.weight : tensor<8x4xbf16> -> tensor<8x4xf32>
// CHECK-NEXT: %h0_gate = router_logits %h0_gate_cast, %h0_gate_cast_0 : tensor<8x4x8xf32>, tensor<8x4xf32> -> tensor<8x4x4xf32>
// CHECK-NEXT: router %h0_gate at %positions top 2 balance(0.01) :
// CHECK-NEXT: %h0_sum = sum %h0_router_load : tensor<8xf32> -> tensor<f32>
// CHECK: write accumulator "h.0.load",
// CHECK: dispatch %wte_use0 by %h0_router_slots, %h0_router_tokens : tensor<8x4x8xbf16>, {{.*}} -> tensor<4x8x2x8xbf16>
// CHECK: combine %h0_experts_down by %h0_router_slots, %h0_router_tokens weighted %h0_router_weights : tensor<4x8x2x8xbf16>, {{.*}}tensor<8x4x2xf32> -> tensor<8x4x8xbf16>
// CHECK: dispatch %{{.*}} by %h0_router_slots, %h0_router_tokens weighted %h0_router_weights : {{.*}} -> tensor<4x8x2x8xbf16> in "h.0" backward
// CHECK: combine_grad %h0_experts_down, %{{.*}} by %h0_router_slots : {{.*}} -> tensor<8x4x2xf32> in "h.0" backward
// CHECK: combine %h0_experts_up_dx by %h0_router_slots, %h0_router_tokens : {{.*}} -> tensor<8x4x8xbf16> in "h.0" backward
// CHECK: router_grad %h0_combine_grad, %h0_gate load %{{.*}} top 2 balance(0.01) :
// CHECK: %[[DW:.*]] = matmul %h0_gate_cast, %h0_router_grad "b s h, b s e -> h e" : {{.*}} -> tensor<8x4xf32>
// CHECK: %h0_gate_acc = add %h.0.gate.weight.acc, %[[DW]] : tensor<8x4xf32>
// CHECK: stack %loss.acc, %h.0.load.acc, %wte_square_sum, %h0_gate_square_sum,
// CHECK: elementwise "grad_norm" %unstack_2,
// CHECK: elementwise "loss_and_loads" %unstack_0, %unstack_1 :
// CHECK: evaluate
// CHECK-NOT: load
// NONE-NOT: balance
// NONE-NOT: slot accumulator "h.0.load"
// NONE: router_grad %{{[a-z0-9_]*}}, %h0_gate top 2 :
