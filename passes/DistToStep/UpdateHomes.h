// On which stages each value of a once-a-step region (update, evaluate) is known, and where stages must exchange.
#pragma once
#include "passes/DistToStep/StagePlacement.h"
#include "llvm/ADT/BitVector.h"

namespace hocket::step {

/// One bit a stage.
using Stages = llvm::BitVector;

/// Values of `region`: parameters and moments are known where the parameter is held, accumulators where they are added
/// to, all else where all operands are. Where that is not enough, stages exchange:
///   add     of operands that share no stage (the gradients of two uses of a tied parameter): known on the stages of
///           both after a sum over them
///   stack   of scalars not all known everywhere: known everywhere after a sum over all stages, in which one stage
///           gives each entry and the others zero
///   spread  an operand of an op whose result a parameter needs on stages that do not know the operand (the third use
///           of a tied parameter): one stage gives it, the others zero, just before the op
/// Error: any other op whose operands share no stage.
class UpdateHomes {
public:
  static llvm::FailureOr<UpdateHomes> compute(mlir::Region &region, const StagePlacement &placement);

  /// Where a value is known once it is made (before it is spread).
  const Stages &of(mlir::Value value) const { return made.find(value)->second; }
  /// Stages on which all operands of the op are known where it stands; all that take part in it, if it joins stages.
  const Stages &runsOn(mlir::Operation *op) const { return runs.find(op)->second; }
  /// The stage that gives `value` where stages are joined: the first that knows it.
  unsigned giver(mlir::Value value) const { return givers.lookup(value); }
  /// True if the op joins stages: its operands share none, or it is a stack of values that are not known everywhere.
  bool joins(mlir::Operation *op) const { return joining.contains(op); }
  /// Operands to spread to further stages just before `op`, with all stages that then know them.
  struct Spread {
    mlir::Value value;
    Stages among;
  };
  llvm::ArrayRef<Spread> spreadsAt(mlir::Operation *op) const {
    auto it = spreads.find(op);
    return it == spreads.end() ? llvm::ArrayRef<Spread>() : it->second;
  }

private:
  void setHomes(mlir::Value value, Stages stages);
  void findDemand(mlir::Region &region, const StagePlacement &placement);
  mlir::LogicalResult visit(mlir::Operation *op);

  unsigned stages = 1;
  llvm::DenseMap<mlir::Value, Stages> made, now; ///< `now`: with what has been spread so far
  llvm::DenseMap<mlir::Value, unsigned> givers;
  llvm::DenseMap<mlir::Value, Stages> demand; ///< stages on which a parameter or its state needs the value
  llvm::DenseSet<mlir::Operation *> joining;
  llvm::DenseMap<mlir::Operation *, Stages> runs;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Spread>> spreads;
};
} // namespace hocket::step
