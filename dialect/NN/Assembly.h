// The custom<…> directives of the nn dialect's formats, each a reader and a printer; included where the generated ops
// are. Every fault is one message that lists what would be legal. A directive that may print nothing prints its own
// leading space and stands behind `` in the format; the others leave the space to the format.
#pragma once
#include "dialect/NN/NN.h"

namespace hocket::nn {
using mlir::ArrayAttr, mlir::DenseF64ArrayAttr, mlir::FloatAttr, mlir::IntegerAttr, mlir::OpAsmParser,
    mlir::OpAsmPrinter, mlir::Operation, mlir::ParseResult, mlir::StringAttr, mlir::Type, mlir::TypeRange,
    mlir::UnitAttr;

/// zeros, ones, normal(0.02), constant(3.0)
ParseResult parseInitClause(OpAsmParser &parser, InitAttr &init);
void printInitClause(OpAsmPrinter &printer, Operation *op, InitAttr init);

/// ` in "h.3.attn" backward on [#a, none]`: each part may be missing; `none` is a result whose sharding is not known.
ParseResult parsePlacement(OpAsmParser &parser, StringAttr &path, PhaseAttr &phase, ArrayAttr &shardings);
void printPlacement(OpAsmPrinter &printer, Operation *op, StringAttr path, PhaseAttr phase, ArrayAttr shardings);

/// ` eps(1.0e-6)`; nothing for 1e-5.
ParseResult parseEps(OpAsmParser &parser, FloatAttr &eps);
void printEps(OpAsmPrinter &printer, Operation *op, FloatAttr eps);

/// ` theta(500000.0) dims(64) interleaved position_scale(0.125)`, in any order; theta is 10000 unless said.
ParseResult parseRope(OpAsmParser &parser, FloatAttr &theta, IntegerAttr &dims, UnitAttr &interleaved,
                      FloatAttr &scale);
void printRope(OpAsmPrinter &printer, Operation *op, FloatAttr theta, IntegerAttr dims, UnitAttr interleaved,
               FloatAttr scale);

/// causal scale(0.125) window(4096) softcap(50.0): full or causal, then scale, then what there is of the rest.
ParseResult parseAttentionMask(OpAsmParser &parser, MaskKindAttr &mask, FloatAttr &scale, IntegerAttr &window,
                               FloatAttr &softcap, UnitAttr &ring);
void printAttentionMask(OpAsmPrinter &printer, Operation *op, MaskKindAttr mask, FloatAttr scale, IntegerAttr window,
                        FloatAttr softcap, UnitAttr ring);

/// ` sigmoid normalized scale(2.5) balance(0.01)`, in any order; softmax, scale 1 and balance 0 unless said.
ParseResult parseRouter(OpAsmParser &parser, ScoreKindAttr &scores, UnitAttr &normalized, FloatAttr &scale,
                        FloatAttr &balance);
void printRouter(OpAsmPrinter &printer, Operation *op, ScoreKindAttr scores, UnitAttr normalized, FloatAttr scale,
                 FloatAttr balance);

/// betas = [0.9, 0.95], eps = 1.0e-8, weight_decay = 0.1, in any order; eps is 1e-8 unless said.
ParseResult parseAdamW(OpAsmParser &parser, DenseF64ArrayAttr &betas, FloatAttr &eps, FloatAttr &decay);
void printAdamW(OpAsmPrinter &printer, Operation *op, DenseF64ArrayAttr betas, FloatAttr eps, FloatAttr decay);
/// The same and lr_scale = 1.0, which must be said.
ParseResult parseAdamWStep(OpAsmParser &parser, DenseF64ArrayAttr &betas, FloatAttr &eps, FloatAttr &decay,
                           FloatAttr &lrScale);
void printAdamWStep(OpAsmPrinter &printer, Operation *op, DenseF64ArrayAttr betas, FloatAttr eps, FloatAttr decay,
                    FloatAttr lrScale);

/// cosine(peak = 1.0e-3, warmup = 20, decay = 1000, floor = 1.0e-4), constant(1.0e-3), constant(peak = 1.0e-3, warmup =
/// 20). warmup and floor are 0 unless said. A constant rate has no `decay`, and floor 0.
ParseResult parseLearningRate(OpAsmParser &parser, FloatAttr &peak, IntegerAttr &warmup, IntegerAttr &decay,
                              FloatAttr &floor);
void printLearningRate(OpAsmPrinter &printer, Operation *op, FloatAttr peak, IntegerAttr warmup, IntegerAttr decay,
                       FloatAttr floor);

/// dynamic(initial = 65536.0, growth = 2.0, backoff = 0.5, interval = 2000, hysteresis = 2, floor = 1.0), each of which
/// may be missing, also all with the parentheses; static(1024.0), which has neither growth nor what belongs to it.
ParseResult parseLossScale(OpAsmParser &parser, FloatAttr &initial, FloatAttr &growth, FloatAttr &backoff,
                           IntegerAttr &interval, IntegerAttr &hysteresis, FloatAttr &floor);
void printLossScale(OpAsmPrinter &printer, Operation *op, FloatAttr initial, FloatAttr growth, FloatAttr backoff,
                    IntegerAttr interval, IntegerAttr hysteresis, FloatAttr floor);

/// One number, as parseReal reads it.
ParseResult parseReal(OpAsmParser &parser, FloatAttr &value);
void printReal(OpAsmPrinter &printer, Operation *op, FloatAttr value);

/// What a mask writes: a number, inf or -inf.
ParseResult parseNeutral(OpAsmParser &parser, FloatAttr &value);
void printNeutral(OpAsmPrinter &printer, Operation *op, FloatAttr value);

/// param, first_moment, …: what a slot holds.
ParseResult parseKind(OpAsmParser &parser, SlotKindAttr &kind);
void printKind(OpAsmPrinter &printer, Operation *op, SlotKindAttr kind);

/// `T, U -> V`; `-> V` is left out where the results have the types of the arguments. No types at all is `()`.
ParseResult parseCallTypes(OpAsmParser &parser, llvm::SmallVectorImpl<Type> &args,
                           llvm::SmallVectorImpl<Type> &results);
void printCallTypes(OpAsmPrinter &printer, Operation *op, TypeRange args, TypeRange results);

// Types that may be left out because the others say them; all are printed.
/// `X, GAIN, BIAS -> Y`; only X where gain and bias have its last dimension and its element type, and Y is X.
ParseResult parseNormTypes(OpAsmParser &parser, Type &x, Type &gain, Type &bias, Type &y);
void printNormTypes(OpAsmPrinter &printer, Operation *op, Type x, Type gain, Type bias, Type y);
ParseResult parseRmsNormTypes(OpAsmParser &parser, Type &x, Type &gain, Type &y);
void printRmsNormTypes(OpAsmPrinter &printer, Operation *op, Type x, Type gain, Type y);
/// `X -> Y`; `-> Y` may be missing where Y is X.
ParseResult parseUnaryTypes(OpAsmParser &parser, Type &x, Type &y);
void printUnaryTypes(OpAsmPrinter &printer, Operation *op, Type x, Type y);
/// `A, B -> Y`; `, B` may be missing where B is A, `-> Y` where Y is A.
ParseResult parseBinaryTypes(OpAsmParser &parser, Type &a, Type &b, Type &y);
void printBinaryTypes(OpAsmPrinter &printer, Operation *op, Type a, Type b, Type y);
/// `LOGITS, LABELS -> SUM, COUNT, LSE`; the results may be missing where they are tensor<f32> and tensor<i64>.
ParseResult parseLossTypes(OpAsmParser &parser, Type &logits, Type &labels, Type &sum, Type &count, Type &lse);
void printLossTypes(OpAsmPrinter &printer, Operation *op, Type logits, Type labels, Type sum, Type count, Type lse);
} // namespace hocket::nn
