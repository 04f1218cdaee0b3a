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
  let summary = "the rows of one stage's schedule, one a line; fixed-size records in memory";
  let description = [{
    ```
    #step.table<streams "compute", "send_next", "receive_next" messages activation from 0 to 1, gradient from 1 to 0 {
      compute: begin
      compute: forward microbatch 0 slot 0 after compute 1
      send_next: send activation to 1 microbatch 0 slot 0 after compute 2
      receive_next: receive gradient from 1 microbatch 0 slot 0
      compute: backward microbatch 0 slot 0 after receive_next 1
      compute: update
    }>
    ```
    `after STREAM n`: the first n rows of that stream must have finished. `chunk c` follows the kind of body, or the values
    sent, where it is not 0. See dialect/Step/Row.h.
    C1: at least one stream and at most 8, named differently. C2: bodies run on the first stream, messages on the others.
    C3: a wait is for rows that the stream has. C4: messages are different, each is sent or received, and all by one stage.
    C5: begin, update and evaluate belong to no microbatch and no slot.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$streams, ArrayRefParameter<"::hocket::step::Message">:$messages,
                        ArrayRefParameter<"::hocket::step::Row">:$rows);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// ---- program -----------------------------------------------------------------------------------------------------------
def Step_ProgramOp : Step_Op<"program", [IsolatedFromAbove, Symbol, NoTerminator, NoRegionArguments, SingleBlock, OpAsmOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what every rank of one stage does in a step";
  let description = [{
    First buffers, then bodies, messages and schedules. `computes`: the parts of the model that the stage runs forward, in
    order: paths of layers, and of what stands outside of them. The arena and its slots are sized by the memory plan
    (`arena 81920 slots 4 of 16384 at 16384`: bytes), and so is what it needs of the host's memory
    (`host 4096 slots of 1024 at 0`: as many slots as the device has).
    C1: stage and sizes are not below zero. C2: arena and slots are planned together.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$plan, I64Attr:$stage, StrArrayAttr:$parts, I64Attr:$microbatches,
                       OptionalAttr<I64Attr>:$arena_bytes, OptionalAttr<I64Attr>:$slot_count, OptionalAttr<I64Attr>:$slot_bytes,
                       OptionalAttr<I64Attr>:$slots_offset, OptionalAttr<I64Attr>:$host_bytes,
                       OptionalAttr<I64Attr>:$host_slot_bytes, OptionalAttr<I64Attr>:$host_slots_offset);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{$sym_name `under` $plan `stage` $stage `computes` $parts `microbatches` $microbatches
      (`arena` $arena_bytes^)? (`slots` $slot_count^ `of` $slot_bytes `at` $slots_offset)?
      (`host` $host_bytes^ `slots` `of` $host_slot_bytes `at` $host_slots_offset)? attr-dict-with-keyword $body}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getDefaultDialect() { return "step"; }
    template <typename OpT> auto ops() { return getBody().front().template getOps<OpT>(); }
    BodyOp findBody(BodyKind kind, int64_t chunk);
    MessageOp findMessage(const Message &message);
    ScheduleOp findSchedule(::llvm::StringRef name);
  }];
}
def Step_JobOp : Step_Op<"job", [Symbol]> {
  let summary = "what all stages' programs have in common: sizes of the batch, the vocabulary, parameters counted once, layers";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$model, FlatSymbolRefAttr:$recipe, FlatSymbolRefAttr:$plan,
                       I64Attr:$rows, I64Attr:$microbatches, I64Attr:$sequence, I64Attr:$vocabulary, I64Attr:$parameters,
                       I64Attr:$stages, StrArrayAttr:$layers);
  let assemblyFormat = [{$sym_name `of` $model `with` $recipe `under` $plan `rows` $rows `microbatches` $microbatches
      `sequence` $sequence `vocabulary` $vocabulary `parameters` $parameters `stages` $stages `layers` $layers attr-dict}];
  let hasVerifier = 1;
}
def Step_BufferOp : Step_Op<"buffer", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a piece of memory: its use, its space, its offset there once planned";
  let description = [{
    `shard`: the global type and sharding of what it holds. Buffers of the state table (class parameter, optimizer_state) and
    accumulators carry the slot they come from (`state param`) and how they start; inputs and outputs likewise.
    C1: dense, row-major and of static shape. C2: the offset is not below zero. C3: the shard has the buffer's rank.
  }];
  let arguments = (ins StrAttr:$name, Step_MemoryClass:$memory, Step_Space:$space, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<NN_SlotKind>:$slot, OptionalAttr<NN_InitAttr>:$init, OptionalAttr<I64Attr>:$zigzag,
                       OptionalAttr<Dist_ShardAttr>:$shard);
  let results = (outs AnyMemRef:$buffer);
  let assemblyFormat = [{$memory $name `in` $space (`offset` $offset^)? (`state` $slot^)? (`init` custom<InitClause>($init)^)?
      (`zigzag` $zigzag^)? `:` type($buffer) (`on` qualified($shard)^)? attr-dict}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getBytes() { return byteSize(::mlir::cast<::mlir::ShapedType>(getBuffer().getType())); }
  }];
}
def Step_BodyOp : Step_Op<"body", [HasParent<"ProgramOp">, NoTerminator, NoRegionArguments, SingleBlock, OpAsmOpInterface]> {
  let summary = "one kind of work of one chunk: kernels, products and collectives in the order they run";
  let arguments = (ins Step_BodyKind:$kind, DefaultValuedAttr<I64Attr, "0">:$chunk);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind (`chunk` $chunk^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{ static ::llvm::StringRef getDefaultDialect() { return "step"; } }];
}
def Step_MessageOp : Step_Op<"message", [HasParent<"ProgramOp">]> {
  let summary = "what goes over one directed pipeline edge each microbatch, from or to this stage";
  let description = [{
    The buffers lie side by side in every slot, so that they go as one message.
    C1: from one stage to another. C2: carries at least one buffer.
  }];
  let arguments = (ins Step_MessageValues:$values, I64Attr:$from, DefaultValuedAttr<I64Attr, "0">:$from_chunk, I64Attr:$to,
                       DefaultValuedAttr<I64Attr, "0">:$to_chunk, Variadic<AnyMemRef>:$buffers, StrAttr:$cause);
  let assemblyFormat = [{$values `from` $from (`chunk` $from_chunk^)? `to` $to (`chunk` $to_chunk^)? `carries` $buffers
      `because` $cause `:` type($buffers) attr-dict}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    Message getMessage();
    /// "activation from 0 to 1"
    std::string getText() { return messageText(getMessage()); }
    /// From the first byte of the first buffer to the last byte of the last: what is sent. Offsets must be planned.
    int64_t getBytes();
  }];
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
  let hasVerifier = 1;
}
def Step_StoreOp : Step_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "sets a buffer (before memory is planned)";
  let arguments = (ins NN_Tensor:$value, AnyMemRef:$buffer);
  let assemblyFormat = "$value `,` $buffer `:` type($value) `,` type($buffer) attr-dict";
  let hasVerifier = 1;
}
// ---- in bodies: work. Before memory is planned operands and results are tensors; after, operands are buffers, `outs` are the
// buffers written, and there are no results. Not Pure: they stay in order.
class Step_WorkOp<string mnemonic, dag specific, list<Trait> traits = [AttrSizedOperandSegments]> : Step_Op<mnemonic, traits #
    [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = !con(specific, placement);
  let results = (outs Variadic<NN_Tensor>:$results);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn set) { nameWork(*this, set); }
  }];
}
def Step_LaunchOp : Step_WorkOp<"launch", (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs, Variadic<I64>:$scalars,
    Variadic<AnyMemRef>:$outs)> {
  let summary = "runs a kernel: func.func @kernel(inputs…, scalars…) -> results…, made of nn and step data-movement ops";
  let assemblyFormat = [{$kernel `(` $inputs `)` (`scalars` `(` $scalars^ `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)?
      `:` custom<TypeList>(type($inputs)) `->` custom<TypeList>(type($results)) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def Step_GemmOp : Step_WorkOp<"gemm", (ins AnyType:$a, AnyType:$b, Optional<AnyType>:$c, Optional<AnyType>:$extra,
    Variadic<AnyMemRef>:$outs, OptionalAttr<Step_Epilogue>:$epilogue, UnitAttr:$trans_a, UnitAttr:$trans_b, DenseI64ArrayAttr:$mnk, DenseI64ArrayAttr:$leading, OptionalAttr<I64Attr>:$batch,
    OptionalAttr<DenseI64ArrayAttr>:$strides)> {
  let summary = "row-major product on the vendor's library: result[m,n] = op(a) op(b) (+ c); mnk, leading dimensions of a, b, result";
  let description = [{
    C1: `then bias(%b)`: an epilogue (StepEnums.td); where it makes a second value, that is a result of this op too. It has no batch,
    and with `add` only sum_a and sum_b go.
  }];
  let assemblyFormat = [{(`transpose_a` $trans_a^)? $a `,` (`transpose_b` $trans_b^)? $b (`add` $c^ `:` type($c))?
      (`then` $epilogue^ (`(` $extra^ `:` type($extra) `)`)?)? (`outs` `(` $outs^ `:` type($outs) `)`)? `mnk` $mnk `leading` $leading (`batch` $batch^ `strides` $strides)?
      `:` type($a) `,` type($b) `->` custom<TypeList>(type($results)) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def Step_CollectiveOp : Step_WorkOp<"collective", (ins Step_CollectiveKind:$kind, Dist_Reduction:$reduction, AnyType:$input,
    Variadic<AnyMemRef>:$outs, Dist_AxesAttr:$axes, OptionalAttr<DenseI64ArrayAttr>:$stages,
    OptionalAttr<StrAttr>:$stream, StrAttr:$cause), []> {
  let summary = "a flat, rank-major collective, as communicators offer it";
  let description = [{
    `on "gradients"`: on a stream of its own. It starts when all ops before it in the body and those of its stream have finished
    (of other streams: those that were awaited); what follows it goes on at once. Until an `await` says that it has finished,
    nobody may write what it reads, or touch what it writes.
  }];
  let assemblyFormat = [{$kind $reduction $input (`outs` `(` $outs^ `:` type($outs) `)`)? `over` custom<Axes>($axes)
      (`stages` $stages^)? (`on` $stream^)? `because` $cause `:` type($input) `->` custom<TypeList>(type($results)) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def Step_TransferOp : Step_WorkOp<"transfer", (ins AnyType:$input, Variadic<AnyMemRef>:$outs, OptionalAttr<StrAttr>:$stream,
    StrAttr:$cause), []> {
  let summary = "copies a value between the device's memory and the host's; `on` a stream as a collective";
  let assemblyFormat = [{$input (`outs` `(` $outs^ `:` type($outs) `)`)? (`on` $stream^)? `because` $cause
      `:` type($input) `->` custom<TypeList>(type($results)) `` custom<Placement>($path, $phase, $shardings) attr-dict}];
}
def Step_AwaitOp : Step_Op<"await"> {
  let summary = "waits until the first `count` ops of this body on a stream have finished";
  let description = [{
    C1: at least one. Each stream of a body is awaited before the body ends (step-verify-program).
  }];
  let arguments = (ins StrAttr:$stream, I64Attr:$count);
  let assemblyFormat = "$stream $count attr-dict";
  let hasVerifier = 1;
}

// ---- data movement, inside kernels --------------------------------------------------------------------------------------
def Step_RankScalarOp : Step_Op<"rank_scalar", [Pure]> {
  let summary = "offset of this rank's shard in a dimension of `size` elements split over `axes`, or how many of it are real";
  let description = [{
    `number`: `size` itself, the same on every rank; over no axes. It is a number of one layer (the stream of its dropout)
    that is no part of a kernel, so that kernels of all layers are one. `behind k`: that of the rank k places before along `axes`,
    around; of dimensions that divide evenly.
  }];
  let arguments = (ins Step_RankScalarKind:$kind, I64Attr:$size, Dist_AxesAttr:$axes, OptionalAttr<I64Attr>:$behind);
  let results = (outs I64:$y);
  let assemblyFormat = "$kind `of` $size `over` custom<Axes>($axes) (`behind` $behind^)? attr-dict";
  let hasVerifier = 1;
}
class Step_MoveOp<string mnemonic, dag specific> : Step_Op<mnemonic, [Pure]> {
  let arguments = specific;
  let results = (outs NN_Tensor:$y);
  let hasVerifier = 1;
}
def Step_PackOp : Step_MoveOp<"pack", (ins NN_Tensor:$x, I64Attr:$dim, I64Attr:$pieces)> {
  let summary = "[A, n, B] -> [pieces, A, ceil(n/pieces), B]: rank-major pieces of `dim`; what lies beyond n is zero";
  let assemblyFormat = "$x `dim` $dim `pieces` $pieces `:` type($x) `->` type($y) attr-dict";
}
def Step_UnpackOp : Step_MoveOp<"unpack", (ins NN_Tensor:$x, I64Attr:$dim)> {
  let summary = "[pieces, A, c, B] -> [A, n, B]: pieces side by side along `dim`; what lies beyond n is dropped";
  let assemblyFormat = "$x `dim` $dim `:` type($x) `->` type($y) attr-dict";
}
// Several tensors in one message: piece k of the bucket [pieces, elements] holds piece k of each tensor, one behind the other.
def Step_PlaceOp : Step_MoveOp<"place", (ins NN_Tensor:$x, I64Attr:$pieces, I64Attr:$first, Optional<NN_Tensor>:$bucket)> {
  let summary = "the bucket with x, of [pieces, k], in elements first … of each piece; without a bucket the rest is undefined";
  let assemblyFormat = "$x `pieces` $pieces `first` $first (`in` $bucket^)? `:` type($x) (`,` type($bucket)^)? `->` type($y) attr-dict";
}
def Step_PartOp : Step_MoveOp<"part", (ins NN_Tensor:$bucket, I64Attr:$pieces, I64Attr:$first)> {
  let summary = "what was placed in elements first … of each piece of a bucket";
  let assemblyFormat = "$bucket `pieces` $pieces `first` $first `:` type($bucket) `->` type($y) attr-dict";
}
def Step_SliceOp : Step_MoveOp<"slice", (ins NN_Tensor:$x, I64:$offset, I64Attr:$dim)> {
  let summary = "elements offset … of `dim`; where x ends first, what lies beyond is zero";
  let assemblyFormat = "$x `dim` $dim `offset` $offset `:` type($x) `->` type($y) attr-dict";
}
def Step_MaskOp : Step_MoveOp<"mask", (ins NN_Tensor:$x, I64:$extent, I64Attr:$dim, F64Attr:$value)> {
  let summary = "x with elements from `extent` on along `dim` set to `value`";
  let assemblyFormat = "$x `dim` $dim `extent` $extent `with` custom<Neutral>($value) `:` type($x) `->` type($y) attr-dict";
}
#endif
