// RUN: hocket-opt %s --verify-diagnostics --split-input-file
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.batch' op takes 0 sequences a microbatch; at least 1 is needed{{$}}}}
  batch over "dp" microbatch 0 sequences
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}custom op 'dist.batch' mesh axis "dp" is named twice{{$}}}}
  batch over {"dp", "dp"} microbatch 1 sequences
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}custom op 'dist.batch' mesh axis "dp":(1)2 is named twice (it overlaps with "dp"){{$}}}}
  batch over {"dp", "dp":(1)2} microbatch 1 sequences
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}custom op 'dist.batch' expected a mesh axis in quotes, "tp", or several in braces, {"pp", "tp":(1)2}{{$}}}}
  batch over dp microbatch 1 sequences
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.batch' op takes 9223372036854775807 sequences a microbatch; at most 1073741824 are possible{{$}}}}
  batch over "dp" microbatch 9223372036854775807 sequences
}
