// RUN: hocket-opt %s --verify-diagnostics --split-input-file
// Not to be had: a gradient that would come from nowhere.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op cannot make replicated invariant; from replicated it may go: none (its gradient is partial, and would have to be made from a whole one: start from an invariant value){{$}}}}
    %b = dist.convert %a over "tp" replicated to invariant : tensor<4x8xf32> -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// To itself.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op cannot make invariant invariant; from invariant it may go: invariant to replicated, invariant to varying by slice{{$}}}}
    %b = dist.convert %a over "tp" invariant to invariant : tensor<4x8xf32> -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// A collective where none is needed.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op makes invariant replicated by all_reduce; that is free{{$}}}}
    %b = dist.convert %a over "tp" invariant to replicated by all_reduce : tensor<4x8xf32> -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// None where one is needed.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as varying(1)) -> (tensor<4x8xf32> as varying(1)) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op makes varying(1) replicated for free; that is by all_gather{{$}}}}
    %b = dist.convert %a over "tp" varying(1) to replicated : tensor<4x4xf32> -> tensor<4x8xf32>
    return %a : tensor<4x4xf32>
  }
  return
}
// -----
// Another one.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as varying(1)) -> (tensor<4x8xf32> as varying(1)) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op makes varying(1) varying(0) by all_gather; that is by all_to_all{{$}}}}
    %b = dist.convert %a over "tp" varying(1) to varying(0) by all_gather : tensor<4x4xf32> -> tensor<2x8xf32>
    return %a : tensor<4x4xf32>
  }
  return
}
// -----
// A dimension out of bounds.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op speaks of dimension 5 of a value of 2 dimensions; allowed: 0 to 1{{$}}}}
    %b = dist.convert %a over "tp" invariant to varying(5) by slice : tensor<4x8xf32> -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// A negative one.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op speaks of dimension -3 of a value of 2 dimensions; allowed: 0 to 1{{$}}}}
    %b = dist.convert %a over "tp" varying(-3) to invariant by all_gather : tensor<4x8xf32> -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// Uneven shards.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=3> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op splits dimension 0 of 4 elements over 3 ranks; shards of a region are even{{$}}}}
    %b = dist.convert %a over "tp" invariant to varying(0) by slice : tensor<4x8xf32> -> tensor<1x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// The batch.
func.func @f(%x: tensor<?x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<?x8xf32> as invariant) -> (tensor<?x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op speaks of dimension 0, the batch, which the plan splits{{$}}}}
    %b = dist.convert %a over "tp" invariant to varying(0) by slice : tensor<?x8xf32> -> tensor<?x8xf32>
    return %a : tensor<?x8xf32>
  }
  return
}
// -----
// Another shape.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op makes 'tensor<4x8xf32>' of 'tensor<4x8xf32>', expected 'tensor<4x4xf32>'{{$}}}}
    %b = dist.convert %a over "tp" invariant to varying(1) by slice : tensor<4x8xf32> -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// A transfer that is none.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.convert' unknown transfer 'broadcast' (known: all_reduce, reduce_scatter, all_gather, all_to_all, slice){{$}}}}
    %b = dist.convert %a over "tp" invariant to replicated by broadcast : tensor<4x8xf32> -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// Two axes at once, as generic text.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op changes the local type along one axis, so `from` and `to` are one local type each{{$}}}}
    %b = "dist.convert"(%a) <{axis = "tp", from = #dist.local_type<invariant, invariant>, to = #dist.local_type<replicated>, by = 0 : i32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// Two axes in one dimension.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"cp"=2, "tp"=2> (%a = %x : tensor<4x8xf32> as [varying(0), invariant]) -> (tensor<4x8xf32> as [varying(0), invariant]) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op makes dimension 0 vary over two axes; in a region one axis cuts a dimension{{$}}}}
    %b = dist.convert %a over "tp" invariant to varying(0) by slice : tensor<2x8xf32> -> tensor<1x8xf32>
    return %a : tensor<2x8xf32>
  }
  return
}
