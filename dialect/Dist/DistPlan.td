// The mesh, and the plan: an ordered list of tactics. Later ones never override earlier ones; a conflict is an error.
#ifndef HOCKET_DIST_PLAN_TD
#define HOCKET_DIST_PLAN_TD
include "dialect/Dist/DistBase.td"

def Dist_MeshOp : Dist_Op<"mesh", [Symbol]> {
  let summary = "named axes of devices; rank = row-major over the axes as declared";
  let arguments = (ins SymbolNameAttr:$sym_name, ArrayAttr:$axes);
  let assemblyFormat = "$sym_name `` custom<MeshAxes>($axes) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getWorldSize();
    /// Size of an axis, 0 if there is none of that name.
    int64_t getAxisSize(::llvm::StringRef name);
    /// Index of an axis as declared, -1 if there is none.
    int64_t getAxisIndex(::llvm::StringRef name);
  }];
}
def Dist_PlanOp : Dist_Op<"plan", [OpAsmOpInterface, Symbol, NoTerminator, SingleBlock,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "how one model is spread over one mesh";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$model, FlatSymbolRefAttr:$mesh);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `for` $model `on` $mesh attr-dict-with-keyword $body";
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "dist"; }
    /// The first tactic of type OpT, null if the plan has none.
    template <typename OpT> OpT tactic() {
      for (::mlir::Operation &op : getBody().front())
        if (auto found = ::mlir::dyn_cast<OpT>(op)) return found;
      return {};
    }
  }];
}
class Dist_Tactic<string mnemonic> : Dist_Op<mnemonic, [HasParent<"PlanOp">]>;

def Dist_BatchOp : Dist_Tactic<"batch"> {
  let summary = "splits the batch over axes (may be none: {}), and says how many sequences of it a rank takes at a time";
  let arguments = (ins OptionalAttr<Dist_AxesAttr>:$axes, I64Attr:$microbatch);
  let assemblyFormat = "(`over` custom<Axes>($axes)^)? `microbatch` $microbatch `sequences` attr-dict";
  let hasVerifier = 1;
}
def Dist_SplitOp : Dist_Tactic<"split"> {
  let summary = "splits one dimension of every parameter whose name fits; propagation finds what follows from it";
  let description = [{
    `split "h.*.attn.qkv.weight" dim 2 over "tp"`, or `split megatron over "tp"`: column, row, head and vocabulary splits as
    Megatron-LM makes them, found by factors, not by names.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$pattern, OptionalAttr<I64Attr>:$dim, OptionalAttr<StrAttr>:$form,
                       Dist_AxesAttr:$axes);
  let assemblyFormat = "custom<SplitWhat>($pattern, $dim, $form) `over` custom<Axes>($axes) attr-dict";
  let hasVerifier = 1;
}
// Schedule names are those that passes/Schedule registers; names that are no identifiers stand in quotes.
def Dist_StagesOp : Dist_Tactic<"stages"> {
  let summary = "cuts the layers into stages along an axis, as even as can be, longer ones first";
  let description = [{ `chunks`: pieces of the model that each stage holds, for schedules that visit a stage more than once. }];
  let arguments = (ins Dist_AxesAttr:$axes, StrAttr:$schedule, DefaultValuedAttr<I64Attr, "1">:$chunks);
  let assemblyFormat = "`over` custom<Axes>($axes) `schedule` custom<ScheduleName>($schedule) (`chunks` $chunks^)? attr-dict";
  let hasVerifier = 1;
}
def Dist_ZeroOp : Dist_Tactic<"zero"> {
  let summary = "ZeRO (Rajbhandari et al. 2020): split over the data axes are 0 nothing, 1 optimizer state, 2 also accumulators, 3 also parameters";
  let description = [{
    `zero 3 over "dp" gather kept bucket 1048576`. `gather` (of stage 3): when parameters are gathered; priced and chosen where it
    is not given. `bucket`: collectives of parameters go together up to this many bytes; what is larger goes alone.
  }];
  let arguments = (ins I64Attr:$stage, Dist_AxesAttr:$axes, OptionalAttr<Dist_Gather>:$gather, OptionalAttr<I64Attr>:$bucket);
  let assemblyFormat = "$stage `over` custom<Axes>($axes) (`gather` custom<GatherWord>($gather)^)? (`bucket` $bucket^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t defaultBucket = 4 << 20; ///< bytes
    int64_t getBucketBytes() { return getBucketAttr() ? getBucketAttr().getInt() : defaultBucket; }
    bool splitsState() { return getStage() >= 1; }
    bool splitsAccumulators() { return getStage() >= 2 && getGather() != Gather::OncePartial; }
    bool splitsParameters() { return getStage() >= 3; }
  }];
}
#endif
