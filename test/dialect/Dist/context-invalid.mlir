// RUN: hocket-opt %s --verify-diagnostics --split-input-file
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.context' op needs an axis to split the sequence over{{$}}}}
  context over {} ring
}
