// The types of explicit per-rank programming: what a value of a manual region (dist.local) is along each of its axes.
// Sources: JAX's shard_map (varying manual axes; "Efficient transposition of replication-inducing collectives"), and
// Meta's spmd_types, whose four local types these are; varying says its dimension here, so that a judge can know the
// whole.
#pragma once
#include "dialect/Dist/Dist.h"

namespace hocket::dist {

using LocalTypes = llvm::SmallVector<LocalType, 2>; ///< one an axis of the region

/// replicated, invariant, varying(1), partial
std::string text(const LocalType &type);
/// What the gradient of such a value is: replicated and partial change places.
LocalType gradientType(const LocalType &type);
LocalTypeAttr gradientType(LocalTypeAttr types);
/// How one becomes the other; nothing if no single transfer does that.
///   partial, invariant: all_reduce    invariant, replicated: free    replicated, invariant: nothing
std::optional<Transfer> transferBetween(const LocalType &from, const LocalType &to);
/// "partial to invariant by all_reduce, …": all that `convert` can do from this kind.
std::string transfersFrom(LocalKind kind);

/// The type that a value of `global` type has in the region. Fails, with what is wrong in `fault`, where a dimension
/// does not exist, is no multiple of the axis, or is of unknown size.
llvm::FailureOr<mlir::RankedTensorType> localTypeIn(mlir::ArrayAttr axes, mlir::RankedTensorType global,
                                                    llvm::ArrayRef<LocalType> types, std::string &fault);
/// The other way: what a value of the region is a shard of.
mlir::RankedTensorType globalTypeOf(mlir::ArrayAttr axes, mlir::RankedTensorType local,
                                    llvm::ArrayRef<LocalType> types);

/// Finds the local type of every value of one region of a dist.local: of its arguments by what the op says, of results
/// by the factors and the linearity of their ops.
class LocalTyping {
public:
  LocalTyping(LocalOp op, mlir::Region &region) : op(op), region(region) {}
  /// Reports every fault at the op that has it, where `report`. What depends on a faulty op is not judged.
  bool run(llvm::ArrayRef<LocalTypeAttr> arguments, bool report);
  /// None for values behind a fault, and for numbers (offsets).
  const LocalTypes *of(mlir::Value value) const {
    auto found = types.find(value);
    return found == types.end() ? nullptr : &found->second;
  }

private:
  mlir::InFlightDiagnostic fault(mlir::Operation *at);
  void visit(mlir::Operation *each);
  void visitConvert(ConvertOp convert);
  bool visitAxis(mlir::Operation *each, const nn::FactorRule &rule, size_t axis,
                 llvm::MutableArrayRef<LocalTypes> results);
  struct AxisUse; ///< what the operands of one op are along one axis
  bool checkInvariance(AxisUse &use);
  bool findSplit(AxisUse &use);
  void findOffset(AxisUse &use);
  bool checkOffset(AxisUse &use);
  bool checkPartial(AxisUse &use);
  bool typeResult(AxisUse &use, unsigned result, LocalType &made);

  LocalOp op;
  mlir::Region &region;
  bool report = false, sound = true;
  llvm::DenseMap<mlir::Value, LocalTypes> types;
};

/// What the arguments of each region are: of the body as the op says; of the backward also the gradients of the
/// results.
llvm::SmallVector<LocalTypeAttr> bodyArguments(LocalOp op);
llvm::SmallVector<LocalTypeAttr> backwardArguments(LocalOp op);
/// True for values that have gradients: floats.
bool hasGradient(mlir::Type type);
} // namespace hocket::dist
