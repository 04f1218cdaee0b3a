// The training step: one op whose regions every later layer keeps, its state, and the optimizer's arithmetic.
#ifndef HOCKET_NN_TRAINING_TD
#define HOCKET_NN_TRAINING_TD
include "dialect/NN/NNBase.td"


def NN_TrainingStepOp : NN_Op<"training_step", [IsolatedFromAbove, Symbol, NoTerminator, NoRegionArguments, SingleBlock,
    OpAsmOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "begin once, microbatch `microbatches` times, update once; evaluate instead of update without training";
  let description = [{
    All that regions share goes through named slots (`read KIND NAME`, `write KIND NAME, %v`), declared in the first region:
    accumulators are carried from one microbatch to the next (why names: README.md). A microbatch runs its ops by phase,
    those of one phase in the order of the text: forward; then backward, and among them recompute, copies of forward ops
    that dist-recompute puts right before their use; then weight_grad. No forward op uses what another phase makes. The
    batch dimension is one microbatch of all data-parallel ranks together; `begin` sees the labels of the whole step as
    [microbatches, b, s].
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$model, FlatSymbolRefAttr:$recipe,
                       OptionalAttr<FlatSymbolRefAttr>:$plan, I64Attr:$microbatches);
  let regions = (region SizedRegion<1>:$slots, SizedRegion<1>:$begin, SizedRegion<1>:$microbatch,
                        SizedRegion<1>:$update, SizedRegion<1>:$evaluate);
  let assemblyFormat = [{$sym_name `of` $model `with` $recipe (`under` $plan^)? `microbatches` $microbatches
      attr-dict-with-keyword `slots` $slots `begin` $begin `microbatch` $microbatch `update` $update `evaluate` $evaluate}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "nn"; }
    SlotOp findSlot(::hocket::nn::SlotKind kind, ::llvm::StringRef name);
  }];
}
def NN_SlotOp : NN_Op<"slot", [HasParent<"TrainingStepOp">]> {
  let summary = "declares what a named slot holds, how it starts, where it lives at rest, and as what `microbatch` uses it";
  let description = [{
    `used as`: what ops of `microbatch` see of a slot that is split further at rest than they want it (a parameter under ZeRO-3).
    Whoever reads it gathers it; ops are split as if it were whole.
    `zigzag n`, of an input: its last dimension, the sequence, is put in 2n chunks, in the order 0, 2n-1, 1, 2n-2, …, before it is
    split; `nn.positions` says the same.
  }];
  let arguments = (ins NN_SlotKind:$kind, StrAttr:$name, TypeAttr:$type, OptionalAttr<NN_InitAttr>:$init,
                       OptionalAttr<I64Attr>:$zigzag, OptionalAttr<AnyAttr>:$sharding, OptionalAttr<AnyAttr>:$use);
  let assemblyFormat = [{custom<Kind>($kind) $name `:` $type (`init` custom<InitClause>($init)^)? (`zigzag` $zigzag^)? (`on` $sharding^)?
      (`used` `as` $use^)? attr-dict}];
  let hasVerifier = 1;
}
def NN_ReadOp : NN_PlacedOp<"read", (ins NN_SlotKind:$kind, StrAttr:$name), [MemoryEffects<[MemRead]>]> {
  let summary = "the value of a slot";
  let results = (outs NN_Tensor:$value);
  let assemblyFormat = "custom<Kind>($kind) $name `:` type($value) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_WriteOp : NN_Op<"write", [NN_Placed, MemoryEffects<[MemWrite]>]> {
  let summary = "sets a slot; once in a region at most";
  let arguments = !con((ins NN_SlotKind:$kind, StrAttr:$name, NN_Tensor:$value), placement);
  let assemblyFormat = "custom<Kind>($kind) $name `,` $value `:` type($value) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}

// ---- optimizer -------------------------------------------------------------------------------------------------------
def NN_SquareSumOp : NN_ComputeOp<"square_sum", (ins NN_Tensor:$x), [NN_MayWiden]> {
  let summary = "sum of squares of all elements, without dimensions";
  let results = (outs NN_Tensor:$y);
  let assemblyFormat = "$x `:` type($x) `->` type($y) `` custom<Placement>($path, $phase, $shardings) attr-dict";
}
def NN_CosineRateOp : NN_ComputeOp<"cosine_rate", (ins NN_Tensor:$step, F64Attr:$peak, I64Attr:$warmup,
    OptionalAttr<I64Attr>:$decay, F64Attr:$floor)> {
  let summary = "the learning rate of a step (1 = the first); see learning_rate";
  let results = (outs NN_Tensor:$rate);
  let assemblyFormat = [{$step custom<LearningRate>($peak, $warmup, $decay, $floor) `:` type($step) `->` type($rate)
      `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def NN_AdamWOp : NN_ComputeOp<"adamw", (ins NN_Tensor:$param, NN_Tensor:$grad, NN_Tensor:$m, NN_Tensor:$v, NN_Tensor:$rate,
    NN_Tensor:$clip, NN_Tensor:$step, Optional<NN_Tensor>:$unless, DenseF64ArrayAttr:$betas, F64Attr:$eps,
    F64Attr:$weight_decay, F64Attr:$lr_scale)> {
  let summary = "one AdamW update of one parameter; the gradient is first multiplied by `clip`";
  let description = [{
    g = clip grad; m' = b1 m + (1-b1) g; v' = b2 v + (1-b2) g^2;
    param' = param - lr_scale rate (m'/(1-b1^step) / (sqrt(v'/(1-b2^step)) + eps) + weight_decay param).
    rate and clip f32, step i64, all without dimensions. `unless`, f32: where it is not 0, param', m' and v' are param, m and v
    as they were, whatever the gradient holds (selected: NaN times 0 is NaN).
  }];
  let results = (outs NN_Tensor:$new_param, NN_Tensor:$new_m, NN_Tensor:$new_v);
  let assemblyFormat = [{$param `,` $grad `,` $m `,` $v `rate` $rate `clip` $clip `step` $step
      (`unless` $unless^)? `(` custom<AdamWStep>($betas, $eps, $weight_decay, $lr_scale) `)`
      `:` type($param) `,` type($grad) `,` type($m) `,` type($v) `,` type($rate) `,` type($clip) `,` type($step)
      (`,` type($unless)^)? `->` type($new_param) `,` type($new_m) `,` type($new_v) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
#endif
