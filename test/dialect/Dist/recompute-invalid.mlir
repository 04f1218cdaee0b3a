// RUN: hocket-opt %s --verify-diagnostics --split-input-file
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.recompute' op names no layer; without a name all layers are meant{{$}}}}
  recompute "" full
}
