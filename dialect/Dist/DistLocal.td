// Manual regions: a piece of model that a user writes for one rank, with its collectives. Every value in it has a local
// type per axis, in the sense of explicit per-rank programming: JAX's shard_map with varying types, and the spmd_types of
// Meta (replicate, invariant, varying, partial). Whole tensors go in and come out, so models keep their global meaning.
#ifndef HOCKET_DIST_LOCAL_TD
#define HOCKET_DIST_LOCAL_TD
include "dialect/Dist/DistBase.td"
include "dialect/NN/NNBase.td"

def Dist_LocalTypeAttr : AttrDef<Dist_Dialect, "LocalType"> {
  let mnemonic = "local_type";
  let summary = "#dist.local_type<varying(1), replicated>: what a value of a manual region is along each axis of the region";
  let description = [{
                     on the ranks                              its gradient is
      replicated     the same on all, each free to use it      partial: ranks' uses differ, and add up
      invariant      the same on all, used alike by all        invariant
      varying(d)     a shard of dimension d                    varying(d)
      partial        a summand                                 replicated
  }];
  let parameters = (ins ArrayRefParameter<"::hocket::dist::LocalType">:$axes);
  let hasCustomAssemblyFormat = 1;
}
def Dist_LocalOp : Dist_Op<"local", [NN_Placed, Pure, IsolatedFromAbove, SingleBlock, OpAsmOpInterface,
    DeclareOpInterfaceMethods<NN_FactorOpInterface>, DeclareOpInterfaceMethods<NN_DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<NN_ReferenceOpInterface, ["getFlops"]>, DeclareOpInterfaceMethods<NN_RetypedOpInterface>]> {
  let summary = "a manual region: `dist.local over <\"tp\"=2> (%a = %x : T as replicated) -> (T as invariant) { … }`";
  let description = [{
    Written for meshes whose axes have these sizes. Operands and results are whole tensors; in the region each is what `as`
    says, and has the local type that follows. Along other axes the region is split like any op, by the factors of its ops.
    Ops take operands that are all invariant, or none of which is; `convert` is the only op that changes a local type by
    itself. Results are not replicated: their gradient, partial, would have to come from outside.
    `backward (%a, …, %dy, …) { … }` is a derivative by hand: the operands, then the gradient of each result; it returns the
    gradient of each float operand, and its converts are the transposes of those of the region (or these again). Without it the
    transposed region is built. `kept`: so many last results are for the derivative alone.
  }];
  let arguments = !con((ins Variadic<NN_Tensor>:$xs, ArrayAttr:$axes, ArrayAttr:$arg_types, ArrayAttr:$result_types,
                            DefaultValuedAttr<I64Attr, "0">:$kept), placement);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$backward);
  let results = (outs Variadic<NN_Tensor>:$ys);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "nn"; }
    MeshAxisAttr axis(size_t index) { return ::mlir::cast<MeshAxisAttr>(getAxes()[index]); }
    /// Index of the axis of that name, -1 if the region is not over it.
    int64_t axisIndex(::llvm::StringRef name);
  }];
}
def Dist_ConvertOp : Dist_Op<"convert", [HasParent<"LocalOp">, DeclareOpInterfaceMethods<NN_DifferentiableOpInterface>]> {
  let summary = "changes the local type along one axis, by the collective that is named: `partial to invariant by all_reduce`";
  let description = [{
    from          to            by               transposed
    partial       invariant     all_reduce       invariant to replicated
    invariant     replicated    (free)           partial to invariant by all_reduce
    partial       replicated    all_reduce       partial to replicated by all_reduce
    partial       varying(d)    reduce_scatter   varying(d) to replicated by all_gather
    varying(d)    replicated    all_gather       partial to varying(d) by reduce_scatter
    varying(d)    invariant     all_gather       invariant to varying(d) by slice
    invariant     varying(d)    slice            varying(d) to invariant by all_gather
    varying(d)    varying(e)    all_to_all       varying(e) to varying(d) by all_to_all
  }];
  let arguments = (ins NN_Tensor:$x, StrAttr:$axis, Dist_LocalTypeAttr:$from, Dist_LocalTypeAttr:$to, Dist_Transfer:$by);
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = [{$x `over` $axis custom<LocalTypeWord>($from) `to` custom<LocalTypeWord>($to) custom<TransferWord>($by)
      `:` type($x) `->` type($y) attr-dict}];
  let hasVerifier = 1;
}
#endif
