// RUN: hocket-opt %s --verify-diagnostics --split-input-file
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.experts' op names no axes to split the experts over{{$}}}}
  experts over {}
}
