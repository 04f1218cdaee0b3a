// RUN: hocket-opt %s --verify-diagnostics --split-input-file
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.split' op has an unknown form 'metagron'; known: auto, megatron, or a parameter's name in quotes with `dim`{{$}}}}
  split metagron over "tp"
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.split' op has dimension -1; dimensions count from 0{{$}}}}
  split "w" dim -1 over "tp"
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}'dist.split' op names no parameter{{$}}}}
  split "" dim 0 over "tp"
}
// -----
dist.plan @p for @gpt on @m {
  // expected-error-re @+1 {{{{^}}custom op 'dist.split' expected a parameter's name in quotes with `dim`, `auto` or `megatron`{{$}}}}
  split 4 over "tp"
}
