// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

// CHECK: %wte = step.buffer parameter "wte" in arena : memref<4x8xf32>
%wte = step.buffer parameter "wte" in arena : memref<4x8xf32>
// CHECK: %wte.value = step.load %wte : memref<4x8xf32> -> tensor<4x8xf32>
%0 = step.load %wte : memref<4x8xf32> -> tensor<4x8xf32>
