// The nn dialect: what is computed. Ops are declared in NN*.td; here is what C++ needs beside them.
#pragma once
#include "dialect/NN/FactorRule.h"
#include "dialect/NN/HostTensor.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include <optional>
#include <string>

namespace hocket::nn {
/// Elements of all results (an unknown dimension counts as one); the default cost of an op that touches each once.
int64_t resultElements(mlir::Operation *op);

/// The one factor of an op's rule that needs an offset, if operand number `operand` is an i64; else -1.
int64_t onlyOffsetFactor(mlir::Operation *op, unsigned operand);

/// Faults of an op's placement: not one sharding a result, or a sharding of another rank than its result.
llvm::LogicalResult verifyPlacement(mlir::Operation *op);
/// Names an op's results by its layer path, its weight and its mnemonic, so that IR reads aloud: %h3_attn_qkv.
void nameResults(mlir::Operation *op, mlir::OpAsmSetValueNameFn set);
/// Every op with a path, a phase and shardings.
template <typename ConcreteType> class Placed : public mlir::OpTrait::TraitBase<ConcreteType, Placed> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifyPlacement(op); }
};
/// Ops whose float results may be of a wider type than their operands: rounding happens once, after the sum.
template <typename ConcreteType> class MayWiden : public mlir::OpTrait::TraitBase<ConcreteType, MayWiden> {};
} // namespace hocket::nn

#include "dialect/NN/NNDialect.h.inc"
#include "dialect/NN/NNEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/NN/NNAttrInterfaces.h.inc"
#include "dialect/NN/NNAttrs.h.inc"
#include "dialect/NN/NNOpInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialect/NN/NNOps.h.inc"

namespace hocket::nn {
/// The placement that every placed op carries (`in PATH PHASE on [SHARDINGS]`); all are inherent attributes.
llvm::StringRef getPath(mlir::Operation *op); ///< "" where there is none
void setPath(mlir::Operation *op, llvm::StringRef path);
Phase getPhase(mlir::Operation *op); ///< forward where nothing is said
void setPhase(mlir::Operation *op, Phase phase);
/// The sharding of an op's result, null where none is set.
mlir::Attribute getSharding(mlir::OpResult result);
/// One a result, null where it is not known; all null takes the attribute away.
void setShardings(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> shardings);

/// Creates a placed op whose placement is not known yet: make<LinearOp>(builder, loc, type, x, w,
/// /*transposed=*/false).
template <typename OpT, typename... Args> OpT make(mlir::OpBuilder &builder, mlir::Location loc, Args &&...args) {
  return OpT::create(builder, loc, std::forward<Args>(args)..., mlir::StringAttr(), PhaseAttr(), mlir::ArrayAttr());
}

/// The token that stands at `place` of a sequence in zigzag order over `ranks`: 2 * ranks chunks in the order 0,
/// 2 ranks - 1, 1, 2 ranks - 2, …
///   8 tokens over 2: 0 1 6 7 2 3 4 5
int64_t zigzagToken(int64_t place, int64_t sequence, int64_t ranks);

/// The type in which scalar bodies compute on elements of type `element`: f32 for bf16 and f16, else the type itself.
mlir::Type scalarType(mlir::Type element);

/// True for slots of the state table, which live from step to step: param, first_moment, second_moment, master, state.
bool livesAcrossSteps(SlotKind kind);
/// True for what the optimizer keeps of one parameter, in its shape: first_moment, second_moment, master.
bool isOptimizerState(SlotKind kind);

/// True if `name` fits `pattern`, both of components joined by dots: `*` is one component, `**` any number.
///   h.*.attn.qkv.weight  fits h.3.attn.qkv.weight, not h.3.x.attn.qkv.weight
///   h.**                 fits h, h.3 and h.3.attn
///   **.bias              fits bias and h.3.ln_1.bias
bool matchesName(llvm::StringRef pattern, llvm::StringRef name);
/// The name of `known` nearest to `name` by edit distance, empty if none is near.
llvm::StringRef nearestName(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);
/// What to add to a message about an unknown name: " (nearest: h.3)", else " (known: a, b)", else " (there is none)".
std::string knownNames(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);
/// True if `name` is made of components joined by dots, each of letters, digits, `_` and `-`: "h.3.ln_1.weight".
bool isName(llvm::StringRef name);

/// Reads 1, -2, 0.1, 1e-3, 6.0e-5 (MLIR's own reader refuses some); prints the shortest text that reads back exactly.
mlir::ParseResult parseReal(mlir::AsmParser &parser, double &value);
std::string realText(double value);
} // namespace hocket::nn
