// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
func.func @f() -> i64 {
  // CHECK: %offset_dp_tp = dist.offset of 50257 over {"dp", "tp"}
  %0 = dist.offset of 50257 over {"dp", "tp"}
  return %0 : i64
}
