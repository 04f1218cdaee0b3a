// RUN: hocket-opt %s --verify-diagnostics --split-input-file
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.zero' op has stage 4; stages 0 to 3 are known{{$}}}}
  zero 4 over "dp"
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.zero' op says when parameters are gathered, but stage 1 keeps them whole; only stage 3 splits them{{$}}}}
  zero 1 over "dp" gather kept
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.zero' op has a bucket of 0 bytes; at least 1 is needed{{$}}}}
  zero 2 over "dp" bucket 0
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}custom op 'dist.zero' expected when parameters are gathered: per_use, kept, once or once_partial{{$}}}}
  zero 3 over "dp" gather sometimes
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.zero' op needs an axis to split over{{$}}}}
  zero 3 over {}
}
