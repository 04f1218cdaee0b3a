// RUN: hocket-opt %s --verify-diagnostics --split-input-file
nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
// expected-note-re @+1 {{{{^}}mesh declared here{{$}}}}
dist.mesh @cluster<"pp"=2, "dp"=2, "tp"=4>
// Every fault of a plan is reported.
dist.plan @faults for @gpt on @cluster {
  // expected-note-re @+2 {{{{^}}used by this tactic{{$}}}}
  // expected-note-re @+1 {{{{^}}first here{{$}}}}
  batch over "dp" microbatch 1 sequences
  // expected-error-re @+1 {{{{^}}'dist.split' op names axis "tq", which mesh @cluster does not have; axes: "pp"=2, "dp"=2, "tp"=4; did you mean "tp"?{{$}}}}
  split "wte" dim 0 over "tq"
  // expected-error-re @+1 {{{{^}}'dist.split' op names sub-axis {"tp":(2)4} of an axis of 4 devices; 2 * 4 does not divide 4{{$}}}}
  split "wte" dim 0 over {"tp":(2)4}
  // expected-error-re @+2 {{{{^}}'dist.split' op uses axis "dp", which `batch` uses already in another way{{$}}}}
  // expected-note-re @+1 {{{{^}}used by this tactic{{$}}}}
  split "wte" dim 1 over "dp"
  // expected-error-re @+2 {{{{^}}'dist.stages' op uses axis "dp", which `split` uses already in another way{{$}}}}
  // expected-error-re @+1 {{{{^}}'dist.stages' op uses axis "dp", which `batch` uses already in another way{{$}}}}
  stages over "dp" schedule gpipe
  // expected-note-re @+1 {{{{^}}first here{{$}}}}
  overlap gradients
  overlap parameters
  // expected-error-re @+1 {{{{^}}'dist.overlap' op repeats a tactic of this plan word for word; once is allowed{{$}}}}
  overlap gradients
  // expected-error-re @+1 {{{{^}}'dist.batch' op stands twice in a plan; once is allowed{{$}}}}
  batch microbatch 1 sequences
  // expected-error-re @+1 {{{{^}}'dist.zero' op names axis "world", which mesh @cluster does not have; axes: "pp"=2, "dp"=2, "tp"=4{{$}}}}
  zero 1 over "world"
}
// -----
nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
dist.mesh @cluster<"dp"=2, "tp"=2>
dist.plan @zero for @gpt on @cluster {
  // expected-note-re @+1 {{{{^}}batch split here{{$}}}}
  batch over "dp" microbatch 1 sequences
  // expected-error-re @+1 {{{{^}}'dist.zero' op splits over {"tp"}, which does not split the batch; the batch is split over {"dp"}{{$}}}}
  zero 1 over "tp"
}
// -----
// expected-error-re @+2 {{{{^}}'dist.plan' op names mesh @cluster, which is not declared{{$}}}}
// expected-error-re @+1 {{{{^}}'dist.plan' op names model @gpt, which is not declared{{$}}}}
dist.plan @nothing for @gpt on @cluster {}
// -----
nn.model @gpt(%tokens: tensor<?x4xi32>, %next: tensor<?x4xi32>) -> (tensor<f32>, tensor<i64>) {
  %w = param "wte" : tensor<8x8xf32> init normal(0.02)
  %e = embedding %tokens, %w : tensor<?x4xi32>, tensor<8x8xf32> -> tensor<?x4x8xf32>
  %sum, %count = cross_entropy %e, %next : tensor<?x4x8xf32>, tensor<?x4xi32> -> tensor<f32>, tensor<i64>
  return %sum, %count : tensor<f32>, tensor<i64>
}
// expected-note-re @+1 {{{{^}}mesh declared here{{$}}}}
dist.mesh @cluster<"tp"=4>
// Splits that stand there already, and a sub-axis of one device.
dist.plan @splits for @gpt on @cluster {
  // expected-note-re @+1 {{{{^}}first here, as `split megatron over {"tp":(1)2}`{{$}}}}
  split megatron over {"tp":(1)2}
  // expected-error-re @+1 {{{{^}}'dist.split' op repeats a split of this plan, as `split megatron over {"tp"} uneven`; once over an axis is allowed{{$}}}}
  split megatron over "tp" uneven
  // expected-note-re @+1 {{{{^}}first here, as `split "wte" dim 0 over {"tp":(1)2}`{{$}}}}
  split "wte" dim 0 over {"tp":(1)2}
  // expected-error-re @+1 {{{{^}}'dist.split' op repeats a split of this plan, as `split "wte" dim 0 over {"tp":(1)2}`; once over an axis is allowed{{$}}}}
  split "wte" dim 0 over {"tp":(1)2}
  split "wte" dim 0 over {"tp":(2)2}
  // expected-error-re @+1 {{{{^}}'dist.split' op names sub-axis {"tp":(2)1} of 1 device of an axis of 4 devices; legal sizes: 2, 4{{$}}}}
  split "wte" dim 1 over {"tp":(2)1}
}
