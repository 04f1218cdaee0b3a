// RUN: hocket-opt %s --verify-diagnostics --split-input-file
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.zero' op has stage 4; stages 0 and 1 are known{{$}}}}
  zero 4 over "dp"
}
