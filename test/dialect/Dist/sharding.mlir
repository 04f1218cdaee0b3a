// RUN: hocket-opt --verify-roundtrip %s | FileCheck %s
// Aliases read as the dimensions do.
// CHECK-DAG: #dp_r_tp = #dist.sharding<@m, [{"dp"}, {}, {"tp"}]>
// CHECK-DAG: #r_sum_dp-pp = #dist.sharding<@m, [{}], partial={"dp", "pp"}>
// CHECK-DAG: #r_max_tp = #dist.sharding<@m, [{}], partial=max{"tp"}>
// CHECK-DAG: #tp1x2_tp2x2 = #dist.sharding<@m, [{"tp":(1)2}, {"tp":(2)2}]>
// CHECK-DAG: #tp-open_open = #dist.sharding<@m, [{"tp", ?}, {?}]>
// CHECK-DAG: #tp-dp = #dist.sharding<@m, [{"tp", "dp"}]>
// CHECK-DAG: #scalar = #dist.sharding<@m, []>
// CHECK: test.a = #dp_r_tp, test.b = #r_sum_dp-pp, test.c = #r_max_tp, test.d = #tp1x2_tp2x2, test.e = #tp-open_open, test.f = #tp-dp, test.g = #scalar
module attributes {
  test.a = #dist.sharding<@m, [{"dp"}, {}, {"tp"}]>,
  test.b = #dist.sharding<@m, [{}], partial={"dp", "pp"}>,
  test.c = #dist.sharding<@m, [{}], partial=max{"tp"}>,
  test.d = #dist.sharding<@m, [{"tp":(1)2}, {"tp":(2)2}]>,
  test.e = #dist.sharding<@m, [{"tp", ?}, {?}]>,
  test.f = #dist.sharding<@m, [{"tp", "dp"}]>,
  test.g = #dist.sharding<@m, []>} {}
