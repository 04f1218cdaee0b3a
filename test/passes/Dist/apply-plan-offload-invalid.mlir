// RUN: cat %S/Inputs/gpt.mlir %s | hocket-opt --nn-pipeline="plan=faults rows=4" --dist-apply-plan --verify-diagnostics=only-expected
// What may be wrong with offload tactics is told with the other faults of a plan.
dist.mesh @m<"dp"=2>
dist.plan @faults for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  // expected-error-re @+1 {{{{^}}'dist.offload' op names "h.*.atn", which fits no layer of @gpt; did you mean "h.*.attn"?{{$}}}}
  offload activations "h.*.atn"
  // expected-error-re @+1 {{{{^}}'dist.offload' op names "wet", which fits no parameter of @gpt; did you mean "wte"?{{$}}}}
  offload parameters "wet"
  // expected-error-re @+1 {{{{^}}'dist.offload' op names "nothing.like.it", which fits no parameter of @gpt (known: {{.*wte.*}}){{$}}}}
  offload optimizer_state "nothing.like.it"
  // expected-note-re @+1 {{{{^}}named here first{{$}}}}
  offload activations "h.0.mlp"
  // expected-error-re @+1 {{{{^}}'dist.offload' op names 'h.0.mlp', which another `offload activations` names already{{$}}}}
  offload activations "h.*"
  // expected-note-re @+1 {{{{^}}named here first{{$}}}}
  offload parameters "h.*.mlp.**"
  // expected-error-re @+1 {{{{^}}'dist.offload' op names 'h.0.mlp.fc.weight', which another `offload parameters` names already{{$}}}}
  offload parameters "**.weight"
}
