// Shardings of slots as tactics give them, before they are written down: who split what, so that a second one is
// refused.
#pragma once
#include "passes/Dist/Megatron.h"

namespace hocket::dist {

class SlotShardings {
public:
  SlotShardings(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh) : step(step), plan(plan), mesh(mesh) {}

  /// `batch`: rows of inputs. `split`: parameters, named or found. Both report every fault and say whether there was
  /// none.
  bool splitBatch(BatchOp tactic);
  bool splitParameters(SplitOp tactic, const DimensionClasses &classes);
  /// Writes what was found on the slots, whole on inputs and outputs that nobody split. Parameters that nobody split
  /// stay without, for propagation to find.
  void write();

  /// Dimensions of parameters that are split over one of these axes, or a part of one, so far.
  llvm::SmallVector<std::pair<nn::SlotOp, int>> splitOver(llvm::ArrayRef<AxisRef> axes) const;

  /// What `split` tactics found, in plan order.
  llvm::ArrayRef<ExplicitSplit> explicitSplits() const { return splits; }

private:
  bool splitNamed(SplitOp tactic, const DimensionClasses &classes);
  bool checkDegree(SplitOp tactic, const DimensionClass &info, nn::SlotOp slot);
  bool add(nn::SlotOp slot, int dim, llvm::ArrayRef<AxisRef> axes, mlir::Operation *tactic);

  struct Entry {
    llvm::SmallVector<DimSharding> dims;
    llvm::SmallVector<mlir::Operation *> tactics; ///< by dimension; null where none
  };
  nn::TrainingStepOp step;
  PlanOp plan;
  MeshOp mesh;
  llvm::MapVector<mlir::Operation *, Entry> entries;
  llvm::SmallVector<ExplicitSplit> splits;
  llvm::StringSet<> refused; ///< one message for each tactic and size, not one for each layer
};

/// Moments and accumulators, once every parameter has its sharding: as the parameter; accumulators partial over the
/// axes of `batch`; moments under `zero 1` split over its axes as well, along the first dimension that these divide
/// after the other splits, else along the largest; parameters of less than `wholeBelow` bytes stay as they are.
void shardState(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, int64_t wholeBelow);
} // namespace hocket::dist
