// RUN: hocket-opt %s --verify-diagnostics --split-input-file
// A missing all_reduce: summands leave the region as if they were the sum.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1), %t = %v : tensor<6x8xf32> as varying(0)) -> (tensor<4x8xf32> as invariant) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    // expected-note-re @+1 {{{{^}}made here{{$}}}}
    %o = linear %h, %t : tensor<4x3xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
  // expected-error-re @+1 {{{{^}}'nn.return' op returns value 0 partial over "tp", expected invariant; convert it before, by all_reduce{{$}}}}
    return %o : tensor<4x8xf32>
  }
  return
}
// -----
// A double all_reduce.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1), %t = %v : tensor<6x8xf32> as varying(0)) -> (tensor<4x8xf32> as invariant) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    %o = linear %h, %t : tensor<4x3xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
    // expected-note-re @+1 {{{{^}}made here{{$}}}}
    %y1 = dist.convert %o over "tp" partial to invariant by all_reduce : tensor<4x8xf32> -> tensor<4x8xf32>
  // expected-error-re @+1 {{{{^}}'dist.convert' op takes a value as partial over "tp", but it is invariant; from there it may go: invariant to replicated, invariant to varying by slice{{$}}}}
    %y2 = dist.convert %y1 over "tp" partial to invariant by all_reduce : tensor<4x8xf32> -> tensor<4x8xf32>
    return %y2 : tensor<4x8xf32>
  }
  return
}
// -----
// A wrong axis: no axis of the region.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1), %t = %v : tensor<6x8xf32> as varying(0)) -> (tensor<4x8xf32> as invariant) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    %o = linear %h, %t : tensor<4x3xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
  // expected-error-re @+1 {{{{^}}'dist.convert' op is over "dp", which is no axis of the region (its axes: "tp"){{$}}}}
    %y1 = dist.convert %o over "dp" partial to invariant by all_reduce : tensor<4x8xf32> -> tensor<4x8xf32>
    return %y1 : tensor<4x8xf32>
  }
  return
}
// -----
// A wrong axis of two: over the other one the value is no sum.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x8xf32>) {
  %y = dist.local over <"cp"=2, "tp"=2> (%a = %x : tensor<4x8xf32> as [replicated, replicated], %u = %w : tensor<8x6xf32> as [replicated, varying(1)], %t = %v : tensor<6x8xf32> as [replicated, varying(0)]) -> (tensor<4x8xf32> as [invariant, invariant]) {
    %h = linear %a, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    // expected-note-re @+1 {{{{^}}made here{{$}}}}
    %o = linear %h, %t : tensor<4x3xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
  // expected-error-re @+1 {{{{^}}'dist.convert' op takes a value as partial over "cp", but it is replicated; from there it may go: none{{$}}}}
    %y1 = dist.convert %o over "cp" partial to invariant by all_reduce : tensor<4x8xf32> -> tensor<4x8xf32>
    return %y1 : tensor<4x8xf32>
  }
  return
}
// -----
// An invariant value beside one that varies: its gradient would be a sum that nobody takes.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1), %t = %v : tensor<6x8xf32> as varying(0)) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+2 {{{{^}}'nn.linear' op has operand 0 invariant and operand 1 varying(1) over "tp"; the gradient of the first would be partial and nothing would join it: convert it from invariant to replicated, whose transpose is the all_reduce{{$}}}}
    // expected-note-re @-2 {{{{^}}the invariant operand is made here{{$}}}}
    %h = linear %a, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// An op that is not linear in a partial value.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1), %t = %v : tensor<6x8xf32> as varying(0)) -> (tensor<4x8xf32> as invariant) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    %o = linear %h, %t : tensor<4x3xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
  // expected-error-re @+1 {{{{^}}'nn.gelu' op is not linear in operand 0, which is partial over "tp"; convert it before: partial to invariant by all_reduce, partial to replicated by all_reduce, partial to varying by reduce_scatter{{$}}}}
    %g = gelu %o : tensor<4x8xf32> -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// A bias added to summands counts once a rank.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1), %t = %v : tensor<6x8xf32> as varying(0)) -> (tensor<4x8xf32> as invariant) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    %o = linear %h, %t : tensor<4x3xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
  // expected-error-re @+1 {{{{^}}'nn.add' op adds operand 0, partial over "tp", and operand 1, which is not; that would count once for each rank, so convert the partial one before{{$}}}}
    %g = add %o, %r : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// A product of two sums.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1), %t = %v : tensor<6x8xf32> as varying(0)) -> (tensor<4x8xf32> as invariant) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    %o = linear %h, %t : tensor<4x3xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
  // expected-error-re @+1 {{{{^}}'nn.mul' op has operand 0 and operand 1 both partial over "tp"; a sum of products is not the product of sums, so one of them must be converted before{{$}}}}
    %g = mul %o, %o : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// Summands beside shards.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1), %t = %v : tensor<6x8xf32> as varying(0)) -> (tensor<4x8xf32> as invariant) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    %o = linear %h, %t : tensor<4x3xf32>, tensor<3x8xf32> -> tensor<4x8xf32>
  // expected-error-re @+1 {{{{^}}'nn.linear' op has an operand partial over "tp", which also splits factor f of operand 1; the summands would lie on ranks with other shards, so convert it before{{$}}}}
    %g = linear %o, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// Shards beside whole values.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<4x4xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as varying(1), %u = %w : tensor<4x4xf32> as replicated) -> (tensor<4x8xf32> as varying(1)) {
  // expected-error-re @+1 {{{{^}}'nn.add' op has factor d1 split over "tp" in operand 0 and whole in operand 1, which is replicated; operands that share a factor must vary alike{{$}}}}
    %s = add %a, %u : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %a : tensor<4x4xf32>
  }
  return
}
// -----
// An axis splits one factor of an op.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as varying(0), %u = %w : tensor<8x6xf32> as varying(1)) -> (tensor<4x8xf32> as varying(0)) {
  // expected-error-re @+1 {{{{^}}'nn.linear' op has factors b of operand 0 and f of operand 1 both split over "tp"; an axis may split one factor of an op{{$}}}}
    %s = linear %a, %u : tensor<2x8xf32>, tensor<8x3xf32> -> tensor<2x3xf32>
    return %a : tensor<2x8xf32>
  }
  return
}
// -----
// A norm's row is whole.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as varying(1), %u = %w : tensor<8xf32> as varying(0)) -> (tensor<4x8xf32> as varying(1)) {
  // expected-error-re @+1 {{{{^}}'nn.rms_norm' op needs factor h whole, but operand 0 varies there over "tp"; convert it before, by all_gather or all_to_all{{$}}}}
    %s = rms_norm %a, %u : tensor<4x4xf32>, tensor<4xf32> -> tensor<4x4xf32>
    return %a : tensor<4x4xf32>
  }
  return
}
// -----
// An extreme of shards.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as varying(1)) -> (tensor<4x8xf32> as varying(1)) {
  // expected-error-re @+1 {{{{^}}'nn.row_max' op takes an extreme over factor v, which is split over "tp"; only sums are partial in a region, so gather it before{{$}}}}
    %s = row_max %a : tensor<4x4xf32> -> tensor<4xf32>
    return %a : tensor<4x4xf32>
  }
  return
}
// -----
// A table split by rows.
func.func @f(%x: tensor<2x3xi32>, %w: tensor<8x4xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<2x3xi32> as invariant, %u = %w : tensor<8x4xf32> as varying(0)) -> (tensor<2x3x4xf32> as partial) {
  // expected-error-re @+1 {{{{^}}'nn.embedding' op has factor v split over "tp" and does not know where its shard begins; give it `offset` of dist.offset over "tp"{{$}}}}
    %e = embedding %a, %u : tensor<2x3xi32>, tensor<4x4xf32> -> tensor<2x3x4xf32>
    return %e : tensor<2x3x4xf32>
  }
  return
}
// -----
// Offsets are of axes of the region.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'dist.offset' op is over {"dp"}, which are not axes of the region{{$}}}}
    %o = dist.offset of 8 over "dp"
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// What may stand in a region.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'func.call' op stands in a manual region; allowed: ops of the mathematics, dist.convert and dist.offset{{$}}}}
    %z = func.call @g(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %a : tensor<4x8xf32>
  }
  return
}
func.func private @g(tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @h() {
  return
}
// -----
// Results are not replicated.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.local' op result 0 is replicated; its gradient would be partial and has to come from outside, so it may be invariant, varying or partial{{$}}}}
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as replicated) -> (tensor<4x8xf32> as replicated) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// Nothing comes in partial.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.local' op operand 0 is partial; what comes from outside is whole, so it may be replicated, invariant or varying{{$}}}}
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as partial) -> (tensor<4x8xf32> as partial) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// Two axes cut one dimension.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.local' the value varies in dimension 0 over two axes; in a region one axis cuts a dimension{{$}}}}
  %y = dist.local over <"cp"=2, "tp"=2> (%a = %x : tensor<4x8xf32> as [varying(0), varying(0)]) -> (tensor<4x8xf32> as [varying(0), varying(0)]) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// A dimension that is not there.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.local' the value is varying(2) over "tp", but it has 2 dimensions; allowed: 0 to 1{{$}}}}
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as varying(2)) -> (tensor<4x8xf32> as invariant) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// A negative one.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.local' the value is varying(-1) over "tp", but it has 2 dimensions; allowed: 0 to 1{{$}}}}
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as varying(-1)) -> (tensor<4x8xf32> as invariant) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// Shards are even.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.local' the value has 4 elements in dimension 0, which is no multiple of the 3 ranks of "tp"{{$}}}}
  %y = dist.local over <"tp"=3> (%a = %x : tensor<4x8xf32> as varying(0)) -> (tensor<4x8xf32> as invariant) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// The batch belongs to the plan.
func.func @f(%x: tensor<?x8xf32>) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.local' the value is varying(0) over "tp", but that dimension is the batch, which the plan splits{{$}}}}
  %y = dist.local over <"tp"=2> (%a = %x : tensor<?x8xf32> as varying(0)) -> (tensor<?x8xf32> as varying(0)) {
    return %a : tensor<?x8xf32>
  }
  return
}
// -----
// One local type an axis.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.local' found 2 local types for 1 axes; each axis needs one{{$}}}}
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as [replicated, invariant]) -> (tensor<4x8xf32> as invariant) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// A local type that is none.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.local' unknown local type 'shared' (known: replicated, invariant, varying, partial){{$}}}}
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as shared) -> (tensor<4x8xf32> as invariant) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// Varying says where.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.local' expected the dimension that varies, as in varying(1){{$}}}}
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as varying) -> (tensor<4x8xf32> as invariant) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// An axis without ranks.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}custom op 'dist.local' axis "tp" has 0 ranks; at least 1 is needed{{$}}}}
  %y = dist.local over <"tp"=0> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// No axis at all.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.local' op goes over no axis; at least one is needed{{$}}}}
  %y = "dist.local"(%x) <{axes = [], arg_types = [#dist.local_type<>], result_types = [#dist.local_type<>], kept = 0 : i64}> ({
  ^bb0(%a: tensor<4x8xf32>):
    nn.return %a : tensor<4x8xf32>
  }, {}) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
// -----
// What comes in only as generic text.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+4 {{{{^}}'dist.local' op is over 7 : i64; expected named axes of at least 1 rank{{$}}}}
  // expected-error-re @+3 {{{{^}}'dist.local' op has 2 local types for 1 operands{{$}}}}
  // expected-error-re @+2 {{{{^}}'dist.local' op has the local type "x"; expected one for each of 1 axes{{$}}}}
  // expected-error-re @+1 {{{{^}}'dist.local' op keeps 5 results for the derivative, of 1{{$}}}}
  %y = "dist.local"(%x) <{axes = [7], arg_types = ["x", #dist.local_type<invariant>], result_types = [#dist.local_type<invariant>], kept = 5 : i64}> ({
  ^bb0(%a: tensor<4x8xf32>):
    nn.return %a : tensor<4x8xf32>
  }, {}) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
// -----
// An axis twice.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+1 {{{{^}}'dist.local' op is over "tp" twice{{$}}}}
  %y = dist.local over <"tp"=2, "tp"=2> (%a = %x : tensor<4x8xf32> as [invariant, invariant]) -> (tensor<4x8xf32> as [invariant, invariant]) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// Too few values.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
  // expected-error-re @+1 {{{{^}}'nn.return' op returns 0 values from the region, expected 1{{$}}}}
    return
  }
  return
}
// -----
// A value of another shape.
func.func @f(%x: tensor<4x8xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as varying(1)) {
  // expected-error-re @+3 {{{{^}}'nn.return' op returns 'tensor<4x8xf32>' as value 0, expected 'tensor<4x4xf32>'{{$}}}}
  // expected-error-re @+2 {{{{^}}'nn.return' op returns value 0 invariant over "tp", expected varying(1); convert it before, by slice{{$}}}}
    // expected-note-re @-3 {{{{^}}made here{{$}}}}
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// The backward: its arguments.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error-re @+3 {{{{^}}custom op 'dist.local' backward has 1 arguments, expected 2: the operands and the gradient of each float result{{$}}}}
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant) -> (tensor<4x8xf32> as invariant) {
    return %a : tensor<4x8xf32>
  } backward (%a) {
    return %a : tensor<4x8xf32>
  }
  return
}
// -----
// The backward lacks the transpose of the free conversion: the gradient is a sum that nobody takes.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1)) -> (tensor<4x6xf32> as varying(1)) {
  // expected-error-re @+1 {{{{^}}'dist.convert' op has no transpose in the backward, which needs one more partial to invariant by all_reduce over "tp"{{$}}}}
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    return %h : tensor<4x3xf32>
  } backward (%a, %u, %dy) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %du = matmul %r, %dy "b h, b f -> h f" : tensor<4x8xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
    // expected-note-re @+1 {{{{^}}made here{{$}}}}
    %dr = linear transposed %dy, %u : tensor<4x3xf32>, tensor<8x3xf32> -> tensor<4x8xf32>
  // expected-error-re @+1 {{{{^}}'nn.return' op returns value 0 partial over "tp", expected invariant; convert it before, by all_reduce{{$}}}}
    return %dr, %du : tensor<4x8xf32>, tensor<8x3xf32>
  }
  return
}
// -----
// A collective of the backward that belongs to none of the forward.
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) {
  %y = dist.local over <"tp"=2> (%a = %x : tensor<4x8xf32> as invariant, %u = %w : tensor<8x6xf32> as varying(1)) -> (tensor<4x6xf32> as varying(1)) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %h = linear %r, %u : tensor<4x8xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
    return %h : tensor<4x3xf32>
  } backward (%a, %u, %dy) {
    %r = dist.convert %a over "tp" invariant to replicated : tensor<4x8xf32> -> tensor<4x8xf32>
    %du = matmul %r, %dy "b h, b f -> h f" : tensor<4x8xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
    %dr = linear transposed %dy, %u : tensor<4x3xf32>, tensor<8x3xf32> -> tensor<4x8xf32>
  // expected-error-re @+1 {{{{^}}'dist.convert' op is in the backward and is neither the transpose of a convert of the region nor one of them again{{$}}}}
    %s = dist.convert %dr over "tp" partial to varying(1) by reduce_scatter : tensor<4x8xf32> -> tensor<4x4xf32>
    %da = dist.convert %dr over "tp" partial to invariant by all_reduce : tensor<4x8xf32> -> tensor<4x8xf32>
    return %da, %du : tensor<4x8xf32>, tensor<8x3xf32>
  }
  return
}
