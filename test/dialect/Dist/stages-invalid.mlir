// RUN: hocket-opt %s --verify-diagnostics --split-input-file
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.stages' op needs an axis to lay the stages along{{$}}}}
  stages over {} schedule gpipe
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}custom op 'dist.stages' expected a schedule's name; 1f1b and others that begin with a digit or hold a dash stand in quotes{{$}}}}
  stages over "pp" schedule 1f1b
}

// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.stages' op has 0 chunks; at least 1 is needed{{$}}}}
  stages over "pp" schedule "interleaved-1f1b" chunks 0
}
