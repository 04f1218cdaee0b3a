// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

// CHECK: %h.0.w = step.buffer parameter "h.0.w" in arena offset 64 state param init normal(0.02) : memref<4x8xf32>
%0 = step.buffer parameter "h.0.w" in arena offset 64 state param init normal(0.02) : memref<4x8xf32>
// CHECK: %h.0.w.acc = step.buffer accumulator "h.0.w.acc" in arena state accumulator : memref<4x8xf32>
%1 = step.buffer accumulator "h.0.w.acc" in arena state accumulator : memref<4x8xf32>
// CHECK: %tokens = step.buffer input "tokens" in microbatch state input : memref<2x128xi32>
%2 = step.buffer input "tokens" in microbatch state input : memref<2x128xi32>
// CHECK: %h0_add = step.buffer communication "h0_add" in slot offset 0 : memref<2x8xf32>
%3 = step.buffer communication "h0_add" in slot offset 0 : memref<2x8xf32>
// CHECK: %next = step.buffer input "next" in microbatch state input zigzag 2 : memref<2x64xi32>
%4 = step.buffer input "next" in microbatch state input zigzag 2 : memref<2x64xi32>
