// RUN: hocket-opt %s --verify-diagnostics --split-input-file
// expected-error-re @+1 {{{{^}}mesh axis "tp" splits dimension 1, but it splits dimension 0 already; an axis may be used once on a value{{$}}}}
module attributes {test.a = #dist.sharding<@m, [{"tp"}, {"tp"}]>} {}
// -----
// expected-error-re @+1 {{{{^}}mesh axis "tp" is partial, but it splits dimension 0 already; an axis may be used once on a value{{$}}}}
module attributes {test.a = #dist.sharding<@m, [{"tp"}], partial={"tp"}>} {}
// -----
// A sub-axis lies inside its axis, and two may share devices.
// expected-error-re @+1 {{{{^}}mesh axis "tp":(1)2 splits dimension 1, but mesh axis "tp" splits dimension 0 already; an axis may be used once on a value{{$}}}}
module attributes {test.a = #dist.sharding<@m, [{"tp"}, {"tp":(1)2}]>} {}
// -----
// expected-error-re @+1 {{{{^}}mesh axis "tp":(2)2 splits dimension 1, but mesh axis "tp":(1)4 splits dimension 0 already; an axis may be used once on a value{{$}}}}
module attributes {test.a = #dist.sharding<@m, [{"tp":(1)4}, {"tp":(2)2}]>} {}
// -----
// expected-error-re @+1 {{{{^}}sub-axis "tp":(0)2: both numbers are at least 1 and at most 2147483648, as in "tp":(1)2{{$}}}}
module attributes {test.a = #dist.sharding<@m, [{"tp":(0)2}]>} {}
// -----
// expected-error-re @+1 {{{{^}}sub-axis of "tp" has 0 devices; at least 1 is needed{{$}}}}
module attributes {test.a = #dist.sharding<@m, [{"tp":(1)0}]>} {}
// -----
// expected-error-re @+1 {{{{^}}unknown reduction 'mean'; known: sum, max, min{{$}}}}
module attributes {test.a = #dist.sharding<@m, [{}], partial=mean{"tp"}>} {}
// -----
// expected-error-re @+1 {{{{^}}nothing may follow `?`: an open dimension names its axes first, as in {"tp", ?}{{$}}}}
module attributes {test.a = #dist.sharding<@m, [{?, "tp"}]>} {}
// -----
// expected-error-re @+1 {{{{^}}expected a mesh axis in quotes or `?`, as in {"tp", ?}{{$}}}}
module attributes {test.a = #dist.sharding<@m, [{tp}]>} {}
// -----
// expected-error-re @+1 {{{{^}}a shard of 'tensor<4x4xf32>' needs a sharding of 2 dimensions, not of 1{{$}}}}
module attributes {test.a = #dist.shard<tensor<4x4xf32>, #dist.sharding<@m, [{}]>>} {}
