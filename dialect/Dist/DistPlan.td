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
    Megatron-LM makes them, found by factors, not by names; or `split auto over "tp"`: the form of least cost
    (passes/Dist/AutoSplit.h), which dist-apply-plan writes into the plan in its place, as explicit tactics.
    `uneven`: heads may be split so that ranks have different
    numbers of them (whole KV groups, ceil(n / d) on each rank as long as there are any); without it that is an error.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$pattern, OptionalAttr<I64Attr>:$dim, OptionalAttr<StrAttr>:$form,
                       Dist_AxesAttr:$axes, UnitAttr:$uneven);
  let assemblyFormat = "custom<SplitWhat>($pattern, $dim, $form) `over` custom<Axes>($axes) (`uneven` $uneven^)? attr-dict";
  let hasVerifier = 1;
}
def Dist_ExpertsOp : Dist_Tactic<"experts"> {
  let summary = "splits the experts of every mixture over axes or sub-axes of the same mesh";
  let description = [{
    Their weights are found by factors. Where the axes also split the batch they must be its last ones: a rank then gives away
    whole sequences' tokens and gets others', by all_to_all.
  }];
  let arguments = (ins Dist_AxesAttr:$axes);
  let assemblyFormat = "`over` custom<Axes>($axes) attr-dict";
  let hasVerifier = 1;
}
// Schedule names are those that passes/Schedule registers; names that are no identifiers stand in quotes.
def Dist_StagesOp : Dist_Tactic<"stages"> {
  let summary = "cuts the layers into stages along an axis";
  let description = [{
    `stages over "pp" [balanced | cuts [8, 8, 7, 7]] [schedule NAME | schedule file("table.txt")] [chunks V]`. Alone: as even as
    can be, longer stages first, under 1f1b. `balanced`: the least cost of the costliest stage, embedding and loss counted.
    `cuts`: layers of each piece in the order of the model, p * V numbers. `chunks`: pieces that each stage holds, for schedules
    that visit a stage more than once; without it as many as the schedule must have, else 1. A relative table file lies beside the
    file of the plan.
  }];
  let arguments = (ins Dist_AxesAttr:$axes, UnitAttr:$balanced, OptionalAttr<DenseI64ArrayAttr>:$cuts, StrAttr:$schedule,
                       OptionalAttr<StrAttr>:$table, OptionalAttr<I64Attr>:$chunks);
  let assemblyFormat = [{`over` custom<Axes>($axes) (`balanced` $balanced^)? custom<Schedule>($cuts, $schedule, $table)
                         (`chunks` $chunks^)? attr-dict}];
  let builders = [OpBuilder<(ins "AxesAttr":$axes, "::llvm::StringRef":$schedule), [{
    build($_builder, $_state, axes, /*balanced=*/false, /*cuts=*/{}, $_builder.getStringAttr(schedule), /*table=*/{},
          /*chunks=*/{});
  }]>];
  let hasVerifier = 1;
}
def Dist_SequenceOp : Dist_Tactic<"sequence"> {
  let summary = "sequence parallelism (Korthikanti et al. 2022): what no parameter's split reaches is split along the sequence";
  let description = [{
    After the splits of parameters have settled, ops that do not use `axes` and have a sequence and a further dimension (norms,
    residuals, dropout) get the sequence split over them. What is kept for backward is the split value, which is gathered again
    there; `keep gathered` keeps the gathered one instead: fewer transfers, more memory.
  }];
  let arguments = (ins Dist_AxesAttr:$axes, UnitAttr:$keep_gathered);
  let assemblyFormat = "`over` custom<Axes>($axes) (`keep` `gathered` $keep_gathered^)? attr-dict";
  let hasVerifier = 1;
}
def Dist_ContextOp : Dist_Tactic<"context"> {
  let summary = "context parallelism: the sequence of every input is split over axes, in zigzag order";
  let description = [{
    Rank r of n holds chunks r and 2n-1-r of 2n, so that causal attention is as much work on every rank. Attention sees the keys of
    other ranks by `ring` (blocks of keys and values go around, results are merged; Liu et al. 2023), `all_gather` (keys and
    values whole; Llama 3) or `all_to_all` (heads are split instead, within attention; Jacobs et al. 2023).
  }];
  let arguments = (ins Dist_AxesAttr:$axes, Dist_ContextKind:$kind);
  let assemblyFormat = "`over` custom<Axes>($axes) $kind attr-dict";
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
def Dist_RecomputeOp : Dist_Tactic<"recompute"> {
  let summary = "activations that are made again in backward instead of kept (Chen et al. 2016; selective: Korthikanti et al. 2022)";
  let description = [{
    `recompute "h.*" full`, `recompute "h.*.attn" selective`, `recompute auto`. The pattern names layers or parts of them by path;
    without one all layers are meant. `full` keeps what goes into each part and may run collectives again; `selective` makes again
    what is cheap for its bytes and never a collective. `auto`, under a bound on memory, becomes explicit tactics.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$pattern, Dist_Recompute:$kind);
  let assemblyFormat = "($pattern^)? $kind attr-dict";
  let hasVerifier = 1;
}
def Dist_OffloadOp : Dist_Tactic<"offload"> {
  let summary = "what lies in the host's memory while the device does not need it (Rajbhandari et al. 2021)";
  let description = [{
    `offload activations "h.*"`, `offload optimizer_state`, `offload parameters "wte"`. The pattern names layers (activations) or
    parameters; without one all are meant. A copy goes out where a value is stored and comes in before its first use in a body.
  }];
  let arguments = (ins Dist_Offload:$what, OptionalAttr<StrAttr>:$pattern);
  let assemblyFormat = "$what ($pattern^)? attr-dict";
  let hasVerifier = 1;
}
def Dist_OverlapOp : Dist_Tactic<"overlap"> {
  let summary = "collectives of one kind on a stream of their own, started as early and awaited as late as can be";
  let arguments = (ins Dist_Overlap:$what);
  let assemblyFormat = "$what attr-dict";
}
#endif
