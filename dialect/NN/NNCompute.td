// The mathematics of a transformer, as users write it. Letters: b batch, s sequence, h hidden, v vocabulary, n heads,
// kv KV heads, g query heads of one KV head, d head size. Ops print `in PATH PHASE on [SHARDINGS]` once those are known.
#ifndef HOCKET_NN_COMPUTE_TD
#define HOCKET_NN_COMPUTE_TD
include "dialect/NN/NNBase.td"

def NN_PositionsOp : NN_OffsetOp<"positions", (ins Optional<I64>:$offset,
    OptionalAttr<I64Attr>:$zigzag, OptionalAttr<I64Attr>:$sequence)> {
  let summary = "the position of every token, [b, s] i32: 0 … s-1 in each row (plus the shard's offset)";
  let description = [{
    `zigzag n of S`: a sequence of S in 2n chunks, those of rank 0 first: 0, 2n-1, 1, 2n-2, … The same order as the slots of
    inputs say. `zigzag 2 of 8`: 0 1 6 7 2 3 4 5.
  }];
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "(`offset` $offset^)? (`zigzag` $zigzag^ `of` $sequence)? `:` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_EmbeddingOp : NN_OffsetOp<"embedding", (ins NN_Tensor:$ids, NN_Tensor:$table, Optional<I64>:$offset), differentiable> {
  let summary = "rows of a table: y[…, :] = table[ids[…] - offset, :], zero where the row is not in this table";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$ids `,` $table (`offset` $offset^)? `:` type($ids) `,` type($table) `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_LinearOp : NN_CostedOp<"linear", (ins NN_Tensor:$x, NN_Tensor:$w, UnitAttr:$transposed), differentiable # [NN_MayWiden]> {
  let summary = "x w: the last k dimensions of x contracted with the first k of w";
  let description = [{
    k = (rank x + rank w - rank y) / 2, at least 1. `transposed`: w is [out, in], both contract their last dimension (a tied
    head); then k = 1 and w has rank 2.
  }];
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{(`transposed` $transposed^)? $x `,` $w `:` type($x) `,` type($w) `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_MatmulOp : NN_CostedOp<"matmul", (ins NN_Tensor:$a, NN_Tensor:$b, StrAttr:$rule), differentiable # [NN_MayWiden]> {
  let summary = "any product of two tensors by a rule: \"b s n d, h n d -> b s h\"";
  let description = [{
    Each name is one dimension. Names of both operands and not of the result are contracted; names of all three are batch.
    The names contracted, kept from a, kept from b and batch each stand together and in the same order wherever they
    appear, so that one GEMM (with a batch) computes it.
  }];
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$a `,` $b $rule `:` type($a) `,` type($b) `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_LayerNormOp : NN_ComputeOp<"layer_norm", (ins NN_Tensor:$x, NN_Tensor:$gain, NN_Tensor:$bias,
    DefaultValuedAttr<F64Attr, "1e-5">:$eps), differentiable> {
  let summary = "over the last dimension: (x - mean) / sqrt(variance + eps) * gain + bias";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `,` $gain `,` $bias `` custom<Eps>($eps) `:` custom<NormTypes>(type($x), type($gain), type($bias), type($y))
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_RmsNormOp : NN_ComputeOp<"rms_norm", (ins NN_Tensor:$x, NN_Tensor:$gain,
    DefaultValuedAttr<F64Attr, "1e-5">:$eps), differentiable> {
  let summary = "over the last dimension: x / sqrt(mean(x^2) + eps) * gain";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `,` $gain `` custom<Eps>($eps) `:` custom<RmsNormTypes>(type($x), type($gain), type($y))
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_RopeOp : NN_ComputeOp<"rope", (ins NN_Tensor:$x, NN_Tensor:$positions,
    DefaultValuedAttr<F64Attr, "10000.0">:$theta, OptionalAttr<I64Attr>:$dims, UnitAttr:$interleaved,
    OptionalAttr<F64Attr>:$position_scale, UnitAttr:$inverse), differentiable> {
  let summary = "rotary position embedding (Su et al. 2021) of the last dimension of x [b, s, …, d]";
  let description = [{
    Pairs (i, i + dims/2) of the first `dims` elements (all, unless said) turn by position * position_scale * theta^(-2i/dims);
    `interleaved`: pairs (2i, 2i+1). `inverse` turns back (the gradient).
  }];
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{(`inverse` $inverse^)? $x `at` $positions `` custom<Rope>($theta, $dims, $interleaved, $position_scale)
      `:` type($x) `,` type($positions) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}

defvar attentionMask = (ins NN_MaskKind:$mask, F64Attr:$scale, OptionalAttr<I64Attr>:$window, OptionalAttr<F64Attr>:$softcap,
                         UnitAttr:$ring);
def NN_AttentionOp : NN_CostedOp<"attention", !con((ins NN_Tensor:$q, NN_Tensor:$k, NN_Tensor:$v, NN_Tensor:$q_positions,
    NN_Tensor:$k_positions, Variadic<NN_Tensor>:$documents), attentionMask), differentiable> {
  let summary = "softmax(scale q k^T, masked) v, per head";
  let description = [{
    q [b, s, n, d] or grouped [b, s, kv, g, d]; k [b, t, kv, d]; v [b, t, kv, e]; y as q with e for d. Positions are
    [b, s] and [b, t] i32. `causal`: key position <= query position; `window` w: also query - key < w. `softcap` c: scores
    become c tanh(scores / c) before the mask. `documents`: of the queries [b, s] and of the keys [b, t], i32; a key of another
    document is not seen, whatever else the mask says. In training the log-sum-exp of each row, [b, s, n] or [b, s, kv, g], is kept
    as a second result.
    `ring`: keys may be split as the queries are. The op on whole tensors is the same; on shards it is attention over one block of
    keys, whose results are merged (attention_merge) with those of the other blocks.
  }];
  let results = (outs NN_Tensor:$y, Optional<NN_Tensor>:$lse);
  let assemblyFormat = [{$q `,` $k `,` $v `at` $q_positions `,` $k_positions (`documents` $documents^)?
      custom<AttentionMask>($mask, $scale, $window, $softcap, $ring)
      `:` type($q) `,` type($k) `,` type($v) `,` type($q_positions) `,` type($k_positions) (`,` type($documents)^)?
      `->` type($y) (`,` type($lse)^)?
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}

def NN_AttentionMergeOp : NN_ComputeOp<"attention_merge", (ins NN_Tensor:$a, NN_Tensor:$a_lse, NN_Tensor:$b, NN_Tensor:$b_lse)> {
  let summary = "attention over two sets of keys from that over each: lse = log(exp a_lse + exp b_lse), y = a exp(a_lse - lse) + b exp(b_lse - lse)";
  let description = [{ Rows that see no key of either set (both lse -inf) are 0, with lse -inf. }];
  let results = (outs NN_Tensor:$y, NN_Tensor:$lse);
  let assemblyFormat = [{$a `,` $a_lse `,` $b `,` $b_lse `:` type($a) `,` type($a_lse) `,` type($b) `,` type($b_lse)
      `->` type($y) `,` type($lse) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}

class NN_UnaryOp<string mnemonic> : NN_ComputeOp<mnemonic, (ins NN_Tensor:$x),
    differentiable # [DeclareOpInterfaceMethods<NN_ScalarOpInterface>]> {
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x `:` custom<UnaryTypes>(type($x), type($y)) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_GeluOp : NN_UnaryOp<"gelu"> { let summary = "tanh form: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))"; }
def NN_SiluOp : NN_UnaryOp<"silu"> { let summary = "x / (1 + exp(-x))"; }

def NN_CastOp : NN_ComputeOp<"cast", (ins NN_Tensor:$x, UnitAttr:$summands),
    differentiable # [DeclareOpInterfaceMethods<NN_ScalarOpInterface>]> {
  let summary = "x as another float type, rounded to nearest, ties to even";
  let description = [{
    `summands`: where x is a sum over ranks that is not taken yet, each rank rounds its summand, and the sum is taken in the
    result's type. Without it the sum is taken first, in the type of x.
  }];
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{(`summands` $summands^)? $x `:` type($x) `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}

class NN_BinaryOp<string mnemonic> : NN_ComputeOp<mnemonic, (ins NN_Tensor:$a, NN_Tensor:$b),
    differentiable # [DeclareOpInterfaceMethods<NN_ScalarOpInterface>]> {
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$a `,` $b `:` custom<BinaryTypes>(type($a), type($b), type($y))
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_AddOp : NN_BinaryOp<"add"> { let summary = "a + b; b may have only the trailing dimensions of a (a bias)"; }
def NN_MulOp : NN_BinaryOp<"mul"> { let summary = "a * b; b may have only the trailing dimensions of a"; }

def NN_ElementwiseOp : NN_PlacedOp<"elementwise", (ins Variadic<NN_Tensor>:$xs, OptionalAttr<StrAttr>:$name),
    [Pure, SingleBlock, IsolatedFromAbove, NN_MayWiden, DeclareOpInterfaceMethods<NN_FactorOpInterface>, DeclareOpInterfaceMethods<NN_ReferenceOpInterface, ["getFlops"]>,
     DeclareOpInterfaceMethods<NN_DifferentiableOpInterface>, DeclareOpInterfaceMethods<NN_ScalarOpInterface>]> {
  let summary = "a user's own scalar function: differentiated, and compiled, from its body";
  let description = [{
    The body has one scalar argument an operand and returns one scalar a result, by arith and math ops. Scalars of bf16 and
    f16 tensors are f32: a body computes in f32 and its results are rounded once, at the end. Every operand has
    the trailing dimensions of the results (or none: a scalar). All results have one shape. Without operands it is a constant. `name` names it in reports.
  }];
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<NN_Tensor>:$ys);
  let assemblyFormat = [{($name^)? ($xs^ `:` type($xs))? `->` type($ys) $body
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
  let extraClassDeclaration = [{ static ::llvm::StringRef getDefaultDialect() { return "nn"; } }];
  let hasVerifier = 1;
}
def NN_UnstackOp : NN_ComputeOp<"unstack", (ins NN_Tensor:$x, I64Attr:$dim), differentiable> {
  let summary = "the slices of x along `dim`, one result each, without that dimension";
  let results = (outs Variadic<NN_Tensor>:$ys);
  let assemblyFormat = "$x `dim` $dim `:` type($x) `->` type($ys) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_StackOp : NN_ComputeOp<"stack", (ins Variadic<NN_Tensor>:$xs, I64Attr:$dim), differentiable> {
  let summary = "tensors of one shape side by side along a new dimension `dim`";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$xs `dim` $dim `:` type($xs) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_ConcatOp : NN_ComputeOp<"concat", (ins Variadic<NN_Tensor>:$xs, I64Attr:$dim), differentiable> {
  let summary = "tensors one after another along a dimension that they have: the rotary and the other part of a key";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$xs `dim` $dim `:` type($xs) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_PartOp : NN_ComputeOp<"part", (ins NN_Tensor:$x, I64Attr:$dim, I64Attr:$from), differentiable> {
  let summary = "a piece of x along `dim`, from element `from` on, as long as the result is: what concat joined";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `dim` $dim `from` $from `:` type($x) `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_PadOp : NN_ComputeOp<"pad", (ins NN_Tensor:$x, I64Attr:$dim, I64Attr:$from), differentiable> {
  let summary = "zeros of the result's shape, with x along `dim` from element `from` on";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `dim` $dim `from` $from `:` type($x) `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_SpreadOp : NN_ComputeOp<"spread", (ins NN_Tensor:$x, I64Attr:$dim), differentiable> {
  let summary = "x again and again along a new dimension `dim`: one key for all heads";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x `dim` $dim `:` type($x) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_SumOverOp : NN_ComputeOp<"sum_over", (ins NN_Tensor:$x, I64Attr:$dim), differentiable> {
  let summary = "sum over dimension `dim`, which the result does not have";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x `dim` $dim `:` type($x) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_DropoutOp : NN_PlacedOp<"dropout", (ins NN_Tensor:$x, NN_Tensor:$positions, F64Attr:$rate, Optional<NN_Tensor>:$draws,
    OptionalAttr<StrAttr>:$stream, Optional<I64>:$number, OptionalAttr<DenseI64ArrayAttr>:$extents, Variadic<I64>:$offsets,
    OptionalAttr<DenseI64ArrayAttr>:$offset_dims), [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<NN_FactorOpInterface, ["setOffsetOperand", "getOffsetFactor"]>,
    DeclareOpInterfaceMethods<NN_ReferenceOpInterface>] # differentiable> {
  let summary = "x / (1 - rate) where an element is kept, 0 where it is dropped (with probability `rate`)";
  let description = [{
    x is [b, s, …], positions [b, s] i32. In a model that is all there is to say. In a training step `draws` [b] i32 has a
    random number of each sequence, a function of (seed, step, row of the global batch); `stream` names this dropout among
    all of the model (its layer's path), and `extents` are the global sizes of x's dimensions behind b and s. Whether an element is kept
    is a function of its sequence's draw, the stream, its position and its global index in `extents` (dialect/NN/Random.h), so
    that no plan, and no second forward, changes the mask, and forward and backward make the same one. A draw of 0
    keeps all: what a held-out evaluation gives. Without draws nothing is dropped.
    `offsets` say where the shard begins in the dimensions `offset_dims` of x. In a kernel `number` stands for the
    stream's name, so that layers share kernels.
  }];
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `at` $positions `rate` `(` custom<Real>($rate) `)` (`draws` $draws^ `of` $extents)?
      (`stream` $stream^)? (`number` $number^)? (`offsets` $offsets^ `dims` $offset_dims)?
      `:` type($x) `,` type($positions) (`,` type($draws)^)? `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
  let hasVerifier = 1;
}
def NN_SumOp : NN_ComputeOp<"sum", (ins NN_Tensor:$x), differentiable # [NN_MayWiden]> {
  let summary = "sum over the leading dimensions that the result does not have";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x `:` type($x) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_CrossEntropyOp : NN_ComputeOp<"cross_entropy", (ins NN_Tensor:$logits, NN_Tensor:$labels), differentiable> {
  let summary = "loss sum (nats) over the tokens whose label is not -1, and their count";
  let description = [{
    logits [b, s, v], labels [b, s] i32; sum f32 and count i64 without dimensions. In training the log-sum-exp of each row,
    [b, s], is kept as a third result. Before sharding it is taken apart into row_max, row_sum_exp, pick and sums.
  }];
  let results = (outs NN_Tensor:$sum, NN_Tensor:$count, Optional<NN_Tensor>:$lse);
  let assemblyFormat = [{$logits `,` $labels `:` custom<LossTypes>(type($logits), type($labels), type($sum), type($count), type($lse))
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
#endif
