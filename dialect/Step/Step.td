// The step dialect: when each thing happens. One program a stage: buffers, bodies, messages, and schedule tables.
#ifndef HOCKET_STEP_TD
#define HOCKET_STEP_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/Step/StepEnums.td"
include "dialect/NN/NNBase.td"
include "dialect/Dist/DistBase.td"

def Step_Dialect : Dialect {
  let name = "step";
  let cppNamespace = "::hocket::step";
  let summary = "when each thing happens: bodies and the schedule table of one rank's step";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::hocket::nn::NNDialect", "::hocket::dist::DistDialect"];
  let extraClassDeclaration = "void registerAttributes();";
}
class Step_Op<string mnemonic, list<Trait> traits = []> : Op<Step_Dialect, mnemonic, traits>;

def Step_TableAttr : AttrDef<Step_Dialect, "Table"> {
  let mnemonic = "table";
  let summary = "schedule rows as text, one a line; fixed-size records in memory";
  let description = [{
    streams ["compute", "send_next", …]; then rows such as
      compute: body 0 microbatch 3 slot 1 after receive_previous 4, send_next 2
    `after STREAM n`: the first n rows of that stream must have finished. See dialect/Step/Row.h.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$streams, ArrayRefParameter<"::hocket::step::Row">:$rows);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// ---- program -----------------------------------------------------------------------------------------------------------
def Step_ProgramOp : Step_Op<"program", [IsolatedFromAbove, Symbol, NoTerminator, NoRegionArguments, SingleBlock, OpAsmOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what every rank of one stage does in a step";
  let description = [{
    First buffers, then bodies, messages and schedules. `layers`: what the stage computes, in words. The arena and its slots
    are sized by the memory plan (`arena 81920 slots 4 of 16384 at 16384`: bytes).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$plan, I64Attr:$stage, StrAttr:$layers, I64Attr:$microbatches,
                       OptionalAttr<I64Attr>:$arena_bytes, OptionalAttr<I64Attr>:$slot_count, OptionalAttr<I64Attr>:$slot_bytes,
                       OptionalAttr<I64Attr>:$slots_offset);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{$sym_name `under` $plan `stage` $stage `layers` $layers `microbatches` $microbatches
      (`arena` $arena_bytes^)? (`slots` $slot_count^ `of` $slot_bytes `at` $slots_offset)? attr-dict-with-keyword $body}];
  let extraClassDeclaration = [{ static ::llvm::StringRef getDefaultDialect() { return "step"; } }];
}
def Step_JobOp : Step_Op<"job", [Symbol]> {
  let summary = "what all stages' programs have in common: sizes of the batch, the vocabulary, parameters counted once";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$model, FlatSymbolRefAttr:$recipe, FlatSymbolRefAttr:$plan,
                       I64Attr:$rows, I64Attr:$microbatches, I64Attr:$sequence, I64Attr:$vocabulary, I64Attr:$parameters,
                       I64Attr:$stages);
  let assemblyFormat = [{$sym_name `of` $model `with` $recipe `under` $plan `rows` $rows `microbatches` $microbatches
      `sequence` $sequence `vocabulary` $vocabulary `parameters` $parameters `stages` $stages attr-dict}];
}
def Step_BufferOp : Step_Op<"buffer", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a piece of memory: its use, its space, its offset there once planned";
  let description = [{
    `shard`: the global type and sharding of what it holds. Buffers of the state table (class parameter, optimizer_state) and
    accumulators carry the slot they come from (`state param "wte"`) and how they start; inputs and outputs likewise.
  }];
  let arguments = (ins StrAttr:$name, Step_MemoryClass:$memory, Step_Space:$space, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<NN_SlotKind>:$slot, OptionalAttr<NN_InitAttr>:$init, OptionalAttr<Dist_ShardAttr>:$shard);
  let results = (outs AnyMemRef:$buffer);
  let assemblyFormat = [{$memory $name `in` $space (`offset` $offset^)? (`state` $slot^)? (`init` custom<InitClause>($init)^)?
      `:` type($buffer) (`on` qualified($shard)^)? attr-dict}];
}
def Step_BodyOp : Step_Op<"body", [HasParent<"ProgramOp">, NoTerminator, NoRegionArguments, SingleBlock, OpAsmOpInterface]> {
  let summary = "one kind of work of one chunk: kernels, products and collectives in the order they run";
  let arguments = (ins Step_BodyKind:$kind, I64Attr:$chunk);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind `chunk` $chunk attr-dict-with-keyword $body";
  let extraClassDeclaration = [{ static ::llvm::StringRef getDefaultDialect() { return "step"; } }];
}
def Step_MessageOp : Step_Op<"message", [HasParent<"ProgramOp">]> {
  let summary = "what goes over one directed pipeline edge each microbatch, from or to this stage";
  let description = [{ The buffers lie side by side in every slot, so that they go as one message. }];
  let arguments = (ins StrAttr:$name, I64Attr:$from, I64Attr:$to, Variadic<AnyMemRef>:$buffers, StrAttr:$cause);
  let assemblyFormat = "$name `from` $from `to` $to `carries` $buffers `because` $cause `:` type($buffers) attr-dict";
}
def Step_ScheduleOp : Step_Op<"schedule", [HasParent<"ProgramOp">]> {
  let summary = "the table of an entry (\"train\", \"eval\"): rows of bodies and messages on streams";
  let arguments = (ins StrAttr:$name, Step_TableAttr:$table);
  let assemblyFormat = "$name $table attr-dict";
}
// ---- in bodies: values of buffers ---------------------------------------------------------------------------------------
def Step_LoadOp : Step_Op<"load", [MemoryEffects<[MemRead]>, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the value of a buffer (before memory is planned)";
  let arguments = (ins AnyMemRef:$buffer);
  let results = (outs NN_Tensor:$value);
  let assemblyFormat = "$buffer `:` type($buffer) `->` type($value) attr-dict";
}
def Step_StoreOp : Step_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "sets a buffer (before memory is planned)";
  let arguments = (ins NN_Tensor:$value, AnyMemRef:$buffer);
  let assemblyFormat = "$value `,` $buffer `:` type($value) `,` type($buffer) attr-dict";
}
// ---- in bodies: work. Before memory is planned operands and results are tensors; after, operands are buffers, `outs` are the
// buffers written, and there are no results. Not Pure: they stay in order.
class Step_WorkOp<string mnemonic, dag specific, list<Trait> traits = [AttrSizedOperandSegments]> : Step_Op<mnemonic, traits> {
  let arguments = !con(specific, placement);
  let results = (outs Variadic<NN_Tensor>:$results);
  let hasVerifier = 1;
}
def Step_LaunchOp : Step_WorkOp<"launch", (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs, Variadic<I64>:$scalars,
    Variadic<AnyMemRef>:$outs)> {
  let summary = "runs a kernel: func.func @kernel(inputs…, scalars…) -> results…, made of nn and step data-movement ops";
  let assemblyFormat = [{$kernel `(` $inputs `)` (`scalars` `(` $scalars^ `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)?
      `:` `(` type($inputs) `)` `->` `(` type($results) `)` `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def Step_GemmOp : Step_WorkOp<"gemm", (ins AnyType:$a, AnyType:$b, Optional<AnyType>:$c, Variadic<AnyMemRef>:$outs,
    UnitAttr:$trans_a, UnitAttr:$trans_b, DenseI64ArrayAttr:$mnk, DenseI64ArrayAttr:$leading, OptionalAttr<I64Attr>:$batch,
    OptionalAttr<DenseI64ArrayAttr>:$strides)> {
  let summary = "row-major product on the vendor's library: result[m,n] = op(a) op(b) (+ c); mnk, leading dimensions of a, b, result";
  let assemblyFormat = [{(`transpose_a` $trans_a^)? $a `,` (`transpose_b` $trans_b^)? $b (`add` $c^ `:` type($c))?
      (`outs` `(` $outs^ `:` type($outs) `)`)? `mnk` $mnk `leading` $leading (`batch` $batch^ `strides` $strides)?
      `:` type($a) `,` type($b) `->` `(` type($results) `)` `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def Step_CollectiveOp : Step_WorkOp<"collective", (ins Step_CollectiveKind:$kind, Dist_Reduction:$reduction, AnyType:$input,
    Variadic<AnyMemRef>:$outs, Dist_AxesAttr:$axes, OptionalAttr<DenseI64ArrayAttr>:$stages, StrAttr:$cause), []> {
  let summary = "a flat, rank-major collective, as communicators offer it";
  let assemblyFormat = [{$kind $reduction $input (`outs` `(` $outs^ `:` type($outs) `)`)? `over` custom<Axes>($axes)
      (`stages` $stages^)? `because` $cause `:` type($input) `->` `(` type($results) `)` `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}

// ---- data movement, inside kernels --------------------------------------------------------------------------------------
def Step_RankScalarOp : Step_Op<"rank_scalar", [Pure]> {
  let summary = "offset of this rank's shard in a dimension of `size` elements split over `axes`, or how many of it are real";
  let arguments = (ins Step_RankScalarKind:$kind, I64Attr:$size, Dist_AxesAttr:$axes);
  let results = (outs I64:$y);
  let assemblyFormat = "$kind `of` $size `over` custom<Axes>($axes) attr-dict";
}
class Step_MoveOp<string mnemonic, dag specific> : Step_Op<mnemonic, [Pure]> {
  let arguments = specific;
  let results = (outs NN_Tensor:$y);
}
def Step_PackOp : Step_MoveOp<"pack", (ins NN_Tensor:$x, I64Attr:$dim, I64Attr:$pieces)> {
  let summary = "[A, n, B] -> [pieces, A, ceil(n/pieces), B]: rank-major pieces of `dim`; what lies beyond n is zero";
  let assemblyFormat = "$x `dim` $dim `pieces` $pieces `:` type($x) `->` type($y) attr-dict";
}
def Step_UnpackOp : Step_MoveOp<"unpack", (ins NN_Tensor:$x, I64Attr:$dim)> {
  let summary = "[pieces, A, c, B] -> [A, n, B]: pieces side by side along `dim`; what lies beyond n is dropped";
  let assemblyFormat = "$x `dim` $dim `:` type($x) `->` type($y) attr-dict";
}
def Step_SliceOp : Step_MoveOp<"slice", (ins NN_Tensor:$x, I64:$offset, I64Attr:$dim)> {
  let summary = "elements offset … of `dim`; where x ends first, what lies beyond is zero";
  let assemblyFormat = "$x `dim` $dim `offset` $offset `:` type($x) `->` type($y) attr-dict";
}
def Step_MaskOp : Step_MoveOp<"mask", (ins NN_Tensor:$x, I64:$extent, I64Attr:$dim, F64Attr:$value)> {
  let summary = "x with elements from `extent` on along `dim` set to `value`";
  let assemblyFormat = "$x `dim` $dim `extent` $extent `with` custom<Real>($value) `:` type($x) `->` type($y) attr-dict";
}
#endif
