// RUN: hocket-opt %s --verify-diagnostics --split-input-file
// Both faults of a mesh are reported.
// expected-error-re @+2 {{{{^}}'dist.mesh' op names axis "tp" twice{{$}}}}
// expected-error-re @+1 {{{{^}}'dist.mesh' op gives axis "dp" 0 devices; at least 1 is needed{{$}}}}
dist.mesh @cluster<"tp"=2, "tp"=2, "dp"=0>
// -----
// expected-error-re @+1 {{{{^}}'dist.mesh' op has an axis without a name{{$}}}}
dist.mesh @cluster<""=2>
// -----
// expected-error-re @+1 {{{{^}}'dist.mesh' op has more than 2147483647 devices in all{{$}}}}
dist.mesh @cluster<"a"=1048576, "b"=1048576>
// -----
// expected-error-re @+1 {{{{^}}custom op 'dist.mesh' expected a mesh axis and its size, as in "tp"=2{{$}}}}
dist.mesh @cluster<tp=2>
