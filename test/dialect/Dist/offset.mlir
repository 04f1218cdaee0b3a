// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
func.func @f() -> i64 {
  // CHECK: %offset_dp_tp = dist.offset of 50257 over {"dp", "tp"}
  %0 = dist.offset of 50257 over {"dp", "tp"}
  // CHECK: dist.offset of 128 over "cp" behind 1
  %1 = dist.offset of 128 over "cp" behind 1
  return %0 : i64
}
