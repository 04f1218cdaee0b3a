// RUN: hocket-opt %s --verify-roundtrip | FileCheck %s

func.func @f() {
  // CHECK: step.rank_scalar offset of 50257 over "tp"
  %0 = step.rank_scalar offset of 50257 over "tp"
  // CHECK: step.rank_scalar extent of 50257 over {"tp":(1)2, "dp"}
  %1 = step.rank_scalar extent of 50257 over {"tp":(1)2, "dp"}
  // CHECK: step.rank_scalar offset of 128 over "cp" behind 3
  %2 = step.rank_scalar offset of 128 over "cp" behind 3
  // CHECK: step.rank_scalar number of 2166136261 over {}
  %3 = step.rank_scalar number of 2166136261 over {}
  return
}
