// RUN: cat %S/Inputs/gpt.mlir %s > %t.mlir
// DEFINE: %{plan} =
// DEFINE: %{fault} = not hocket-opt %t.mlir --nn-pipeline="plan=%{plan} rows=4" --dist-apply-plan --dist-propagate-shardings --dist-partition --dist-recompute -o /dev/null 2>&1 | grep -e error: -e note: | grep -v 'see current' | sed 's/.*\(error\|note\): //'
// REDEFINE: %{plan} = nothing
// RUN: %{fault} | FileCheck %s --check-prefix=NOTHING
// REDEFINE: %{plan} = kinds
// RUN: %{fault} | FileCheck %s --check-prefix=KINDS
// REDEFINE: %{plan} = auto
// RUN: %{fault} | FileCheck %s --check-prefix=AUTO
// What reads a sum that grows from microbatch to microbatch would not be the same again.
// RUN: hocket-opt %t.mlir --nn-pipeline="plan=norms rows=4" --dist-apply-plan --dist-propagate-shardings --dist-partition | sed 's/read param "h.0.ln_2.bias"/read accumulator "h.0.ln_2.bias"/' >%t.sums.mlir
// RUN: not hocket-opt %t.sums.mlir --dist-recompute -o /dev/null 2>&1 | grep -e error: -e note: | grep -v 'see current' | sed 's/.*\(error\|note\): //' | FileCheck %s --check-prefix=SUMS
dist.mesh @m<"dp"=2>
dist.plan @norms for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  recompute "h.*.ln_2" selective
}
dist.plan @nothing for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  recompute "h.*.atn" selective
  recompute "g.0" full
  recompute "ln_1" full
}
dist.plan @kinds for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  recompute "h.*" full
  recompute "h.*.attn" selective
}
dist.plan @auto for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  recompute auto
}
// NOTHING: {{^}}'dist.recompute' op names 'h.*.atn', which is no layer and no part of one (nearest: h.*.attn){{$}}
// NOTHING-NEXT: {{^}}'dist.recompute' op names 'g.0', which is no layer and no part of one (nearest: h.0){{$}}
// NOTHING-NEXT: {{^}}'dist.recompute' op names 'ln_1', which is no layer and no part of one (nearest: ln_f){{$}}
// NOTHING-NOT: {{.}}
// KINDS: {{^}}'dist.recompute' op names h.0.attn.qkv as selective, which is full by another tactic; each op is of one kind{{$}}
// KINDS-NEXT: {{^}}named here, as `recompute h.* full`{{$}}
// KINDS-NOT: {{.}}
// AUTO: {{^}}'dist.recompute' op is auto, which stands for what fits into the memory of a rank; give that with --memory BYTES{{$}}
// AUTO-NOT: {{.}}
// SUMS: {{^}}'dist.recompute' op makes 'nn.layer_norm' of h.0.ln_2 again, which reads accumulator "h.0.ln_2.bias"; the microbatch writes it, so its bits could differ{{$}}
// SUMS-NEXT: {{^}}made here{{$}}
// SUMS-NOT: {{.}}
