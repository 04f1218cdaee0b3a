// On which stages each value of a once-a-step region (update, evaluate) is known, and where stages must exchange.
#pragma once
#include "passes/DistToStep/StagePlacement.h"
#include "llvm/ADT/BitVector.h"

namespace hocket::step {

/// One bit a stage.
using Stages = llvm::BitVector;

/// Values of `region`: parameters and moments are known where the parameter is held, accumulators where they are added to,
/// all else where all operands are. Where operands share no stage, two kinds of op join stages:
///   add    of two accumulators of a parameter that two stages use: known on both after a sum over them
///   stack  of scalars: known everywhere after a sum over all stages, in which one stage gives each entry and the others zero
/// Error: any other op whose operands share no stage.
class UpdateHomes {
public:
  static llvm::FailureOr<UpdateHomes> compute(mlir::Region &region, const StagePlacement &placement);

  const Stages &of(mlir::Value value) const { return homes.find(value)->second; }
  /// The stage that gives `value` where stages are joined: the first that knows it.
  unsigned giver(mlir::Value value) const { return of(value).find_first(); }
  /// True if the op joins stages: its operands share none, or it is a stack of values that are not known everywhere.
  bool joins(mlir::Operation *op) const { return joining.contains(op); }
  bool everywhere(mlir::Value value) const { return of(value).all(); }

private:
  llvm::DenseMap<mlir::Value, Stages> homes;
  llvm::DenseSet<mlir::Operation *> joining;
};
} // namespace hocket::step
