// What a local program does beside computing: collectives, each with its axes and its cause, and rank-dependent numbers.
// Operands and results are local tensors; placement (`in PATH PHASE on [SHARDS]`) as on nn ops.
#ifndef HOCKET_DIST_COLLECTIVES_TD
#define HOCKET_DIST_COLLECTIVES_TD
include "dialect/Dist/DistBase.td"
include "dialect/NN/NNBase.td"

class Dist_PlacedOp<string mnemonic, dag specific, list<Trait> traits = []> : Dist_Op<mnemonic, traits # [NN_Placed,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = !con(specific, placement);
  let extraClassDefinition = nameResults;
}
// A collective over the ranks that differ along `axes` only. It takes several tensors at once (one message, [rank][tensor]
// order). `cause`: the tactic or pass that asked for it, in words. Not Pure: never merged, moved or dropped by rewrites that
// do not know it.
def Dist_AllReduceOp : Dist_PlacedOp<"all_reduce", (ins Variadic<NN_Tensor>:$xs, Dist_Reduction:$reduction,
    Dist_AxesAttr:$axes, OptionalAttr<DenseI64ArrayAttr>:$stages, StrAttr:$cause)> {
  let summary = "joins partial values; every rank gets the whole. `stages`: only ranks at these coordinates of the axis";
  let results = (outs Variadic<NN_Tensor>:$ys);
  let assemblyFormat = [{custom<ReductionWord>($reduction) $xs `over` custom<Axes>($axes) (`stages` $stages^)? `because` $cause
      `:` type($xs) `->` type($ys) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
  let hasVerifier = 1;
}
def Dist_ReduceScatterOp : Dist_PlacedOp<"reduce_scatter", (ins NN_Tensor:$x, I64Attr:$dim, Dist_Reduction:$reduction,
    Dist_AxesAttr:$axes, StrAttr:$cause)> {
  let summary = "joins partial values; every rank gets its shard of `dim`";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{custom<ReductionWord>($reduction) $x `dim` $dim `over` custom<Axes>($axes) `because` $cause
      `:` type($x) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
  let hasVerifier = 1;
}
def Dist_AllGatherOp : Dist_PlacedOp<"all_gather", (ins NN_Tensor:$x, I64Attr:$dim, Dist_AxesAttr:$axes, StrAttr:$cause)> {
  let summary = "shards of `dim` side by side; padding between and after them is dropped";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `dim` $dim `over` custom<Axes>($axes) `because` $cause
      `:` type($x) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
  let hasVerifier = 1;
}
def Dist_AllToAllOp : Dist_PlacedOp<"all_to_all", (ins NN_Tensor:$x, I64Attr:$split_dim, I64Attr:$gather_dim,
    Dist_AxesAttr:$axes, StrAttr:$cause)> {
  let summary = "from split along `gather_dim` to split along `split_dim`";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `split` $split_dim `gather` $gather_dim `over` custom<Axes>($axes) `because` $cause
      `:` type($x) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
  let hasVerifier = 1;
}
def Dist_ShiftOp : Dist_PlacedOp<"shift", (ins NN_Tensor:$x, Dist_AxesAttr:$axes, StrAttr:$cause)> {
  let summary = "one step around a ring: the rank at place i along `axes` gets x of place i-1, place 0 that of the last";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `over` custom<Axes>($axes) `because` $cause
      `:` type($x) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
  let hasVerifier = 1;
}
// ---- no communication ------------------------------------------------------------------------------------------------
def Dist_SliceOp : Dist_PlacedOp<"slice", (ins NN_Tensor:$x, I64Attr:$dim, Dist_AxesAttr:$axes), [Pure]> {
  let summary = "this rank's shard of a dimension that is whole over `axes`";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `dim` $dim `over` custom<Axes>($axes) `:` type($x) `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
  let hasVerifier = 1;
}
def Dist_MaskOp : Dist_PlacedOp<"mask", (ins NN_Tensor:$x, I64Attr:$dim, I64Attr:$size, Dist_AxesAttr:$axes, F64Attr:$value), [Pure]> {
  let summary = "x with the padding of `dim` (a dimension of `size` elements split over `axes`) set to the neutral `value`";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `dim` $dim `of` $size `over` custom<Axes>($axes) `with` custom<Neutral>($value) `:` type($x) `->` type($y)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
  let hasVerifier = 1;
}
def Dist_OffsetOp : Dist_Op<"offset", [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "where this rank's shard begins in a dimension of `size` elements split over `axes`; `behind k`: that of the rank k places before, around";
  let arguments = (ins I64Attr:$size, Dist_AxesAttr:$axes, OptionalAttr<I64Attr>:$behind);
  let results = (outs I64:$y);
  let assemblyFormat = "`of` $size `over` custom<Axes>($axes) (`behind` $behind^)? attr-dict";
  let hasVerifier = 1;
}
#endif
