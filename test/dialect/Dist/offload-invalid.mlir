// RUN: hocket-opt %s --verify-diagnostics --split-input-file
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.offload' op names no layer; without a name all are meant{{$}}}}
  offload activations ""
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.offload' op names no parameter; without a name all are meant{{$}}}}
  offload optimizer_state ""
}
