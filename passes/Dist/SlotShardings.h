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

/// State and accumulators, once every parameter has its sharding: as the parameter; accumulators partial over the data
/// axes. ZeRO splits a parameter's state (1), accumulators (2) and itself (3) over its axes as well, but for those that
/// split the parameter already: along the first dimension that they divide after the other splits, else along the
/// largest. Parameters of fewer than `wholeBelow` bytes in f32 stay as they are. What is split at rest is `used as` the
/// parameter would be; under `zero 3` without `gather` the plan is told what was chosen.
void shardState(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, int64_t wholeBelow);
/// `begin` gathers the parameter into a value slot of its name, and microbatches read that.
void gatherInBegin(nn::TrainingStepOp step, nn::SlotOp param, ShardingAttr used);
} // namespace hocket::dist
