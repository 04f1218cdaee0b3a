// Rewrites one region of a training step from global to local types, op by op, reshards included.
#pragma once
#include "mlir/IR/Builders.h"
#include "passes/Dist/Causes.h"
#include "passes/Dist/GatherPolicy.h"
#include <map>

namespace hocket::dist {

class Partitioner {
public:
  Partitioner(const Propagation &propagation, PlanOp plan)
      : propagation(propagation), causes(propagation, plan), policy(propagation, plan), atoms(propagation.getAtoms()) {}

  /// The ops of `region` become local ones. Fails, with an error at the use, where no reshard is possible.
  llvm::LogicalResult run(mlir::Region &region);

private:
  llvm::LogicalResult partition(mlir::Operation *op);
  /// A manual region: its ops in place, each convert as the collective that it is (LocalRegions.cpp).
  void partitionRegion(LocalOp region, llvm::ArrayRef<mlir::Value> operands);
  llvm::FailureOr<mlir::Value> operandFor(mlir::OpOperand &use);
  llvm::FailureOr<mlir::Value> reshard(mlir::OpOperand &use, const Spread &to);
  mlir::Value emit(mlir::Value value, mlir::OpOperand &use, const ReshardStep &step, mlir::Value local, bool atUse);
  mlir::Value mask(mlir::OpOperand &use, mlir::Value local, const StepOp &op, int index);
  void setOffset(mlir::Operation *local, int index);
  void giveOffset(mlir::Operation *local, int64_t factor, int64_t size, llvm::ArrayRef<AxisRef> refs);
  void sendAround(mlir::Operation *op, mlir::Operation *local);
  mlir::Value makeAgain(mlir::Value value, const Spread &to);
  void placeLike(mlir::Operation *made, mlir::Operation *origin, mlir::RankedTensorType global, const Spread &spread);
  mlir::RankedTensorType localTypeOf(mlir::RankedTensorType global, const Spread &spread);

  const Propagation &propagation;
  Causes causes;
  GatherPolicy policy;
  const AxisAtoms &atoms;
  llvm::DenseMap<mlir::Value, mlir::Value> locals;            ///< global value to the local one, as made
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> tails; ///< behind a local op: the last reshard of its results
  /// What a reshard made, and by which ops.
  struct Resharded {
    mlir::Value local;
    llvm::SmallVector<mlir::Operation *, 2> ops;
  };
  /// By value, need, and whether it was made again for the backward pass (see GatherPolicy).
  std::map<std::tuple<void *, const void *, bool>, Resharded> resharded;
  /// By value, dimension, what is written into the padding, and the phase of the use.
  std::map<std::tuple<void *, size_t, double, nn::Phase>, mlir::Value> masked;
};

/// Makes one of all sums of numbers over the same axes that `region` takes: they are ready before any is used, or can
/// be.
void joinScalarReductions(mlir::Region &region);
} // namespace hocket::dist
