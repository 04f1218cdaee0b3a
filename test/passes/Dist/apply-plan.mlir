// RUN: cat %S/Inputs/gpt.mlir %s | hocket-opt --nn-pipeline="plan=explicit rows=4" --dist-apply-plan=whole-below=256 | hocket-opt --verify-roundtrip | FileCheck %s --check-prefix=EXPLICIT
// RUN: cat %S/Inputs/gpt.mlir %s | hocket-opt --nn-pipeline="plan=found rows=4" --dist-apply-plan=print --verify-diagnostics -o /dev/null
// RUN: cat %S/Inputs/gpt.mlir %s | hocket-opt --nn-pipeline="plan=one rows=4" --dist-apply-plan | FileCheck %s --check-prefix=ONE
dist.mesh @m<"dp"=2, "tp"=2>
dist.plan @explicit for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  split "h.*.attn.qkv.weight" dim 2 over "tp"
  split "h.*.mlp.proj.weight" dim 0 over "tp"
  split "wte" dim 0 over "tp"
  zero 1 over "dp"
}
// Inputs by rows; the labels of the whole step in their second dimension; the number of the step whole.
// EXPLICIT: slot input "tokens" : tensor<4x3xi32> on #dp_r{{$}}
// EXPLICIT: slot input "next" : tensor<4x3xi32> on #dp_r{{$}}
// EXPLICIT: slot input "next.all" : tensor<1x4x3xi32> on #r_dp_r{{$}}
// EXPLICIT: slot input "step" : tensor<i64> on #scalar{{$}}
// Moments: the first dimension that dp divides after tp (13 over tp is uneven, so the second); accumulators partial.
// EXPLICIT: slot param "wte" : tensor<13x8xf32> init normal(0.5) on #tp_r{{$}}
// EXPLICIT: slot first_moment "wte" : tensor<13x8xf32> init zeros on #tp_dp{{$}}
// EXPLICIT: slot second_moment "wte" : tensor<13x8xf32> init zeros on #tp_dp{{$}}
// Norms stay whole, their state too: it is small.
// EXPLICIT: slot param "h.0.ln_1.weight" : tensor<8xf32> init ones on #r{{$}}
// EXPLICIT: slot first_moment "h.0.ln_1.weight" : tensor<8xf32> init zeros on #r{{$}}
// EXPLICIT: slot param "h.0.attn.qkv.weight" : tensor<8x3x4x2xf32> init normal(0.4) on #r_r_tp_r{{$}}
// EXPLICIT: slot first_moment "h.0.attn.qkv.weight" : tensor<8x3x4x2xf32> init zeros on #dp_r_tp_r{{$}}
// Found by propagation: the bias of a split output, the rows of what follows, the columns of what comes before.
// EXPLICIT: slot param "h.0.attn.qkv.bias" : tensor<3x4x2xf32> init normal(0.2) on #r_tp_r{{$}}
// EXPLICIT: slot param "h.0.attn.proj.weight" : tensor<4x2x8xf32> init normal(0.4) on #tp_r_r{{$}}
// EXPLICIT: slot param "h.0.attn.proj.bias" : tensor<8xf32> init normal(0.2) on #r{{$}}
// EXPLICIT: slot param "h.0.mlp.fc.weight" : tensor<8x10xf32> init normal(0.4) on #r_tp{{$}}
// EXPLICIT: slot param "h.0.mlp.fc.bias" : tensor<10xf32> init normal(0.2) on #tp{{$}}
// EXPLICIT: slot accumulator "wte#0" : tensor<13x8xf32> on #tp_r_sum_dp{{$}}
// EXPLICIT: slot accumulator "wte#1" : tensor<13x8xf32> on #tp_r_sum_dp{{$}}

dist.plan @found for @gpt on @m {
  batch over "dp" microbatch 2 sequences
  // expected-remark-re @+1 {{{{^}}stands for: split "wte" dim 0 over "tp"; split "h.*.attn.qkv.weight" dim 2 over "tp"; split "h.*.attn.qkv.bias" dim 1 over "tp"; split "h.*.attn.proj.weight" dim 0 over "tp"; split "h.*.mlp.fc.weight" dim 1 over "tp"; split "h.*.mlp.fc.bias" dim 0 over "tp"; split "h.*.mlp.proj.weight" dim 0 over "tp"{{$}}}}
  split megatron over "tp"
}

// A split over an axis of one device is none (case G05).
dist.mesh @single<"dp"=1, "tp"=1>
dist.plan @one for @gpt on @single {
  batch over "dp" microbatch 4 sequences
  split megatron over "tp"
  split "h.*.ln_1.weight" dim 0 over "tp"
  zero 1 over "dp"
}
// ONE: slot input "tokens" : tensor<4x3xi32> on #r_r{{$}}
// ONE: slot param "wte" : tensor<13x8xf32> init normal(0.5) on #r_r{{$}}
// ONE: slot accumulator "wte#0" : tensor<13x8xf32> on #r_r{{$}}
