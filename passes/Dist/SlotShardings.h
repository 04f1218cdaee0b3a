// Shardings of slots as tactics give them, before they are written down: who split what, so that a second one is
// refused.
#pragma once
#include "passes/Dist/Megatron.h"
#include "passes/Dist/Propagation.h"

namespace hocket::dist {

class SlotShardings {
public:
  SlotShardings(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh) : step(step), plan(plan), mesh(mesh) {}

  /// `batch`: rows of inputs. `split`: parameters, named or found. Both report every fault and say whether there was
  /// none.
  bool splitBatch(BatchOp tactic);
  /// `context`: tokens of inputs, in zigzag order where attention is split by queries.
  bool splitContext(ContextOp tactic);
  bool splitParameters(SplitOp tactic, const DimensionClasses &classes);
  /// `experts`: the expert dimension of every expert's weights. Legal degrees divide the number of experts. What a
  /// later `split megatron` would split over the same axes is left to it: such experts are whole on one rank.
  bool splitExperts(ExpertsOp tactic, const DimensionClasses &classes);
  /// Writes what was found on the slots, whole on inputs and outputs that nobody split. Parameters that nobody split
  /// stay without, for propagation to find.
  void write();

  /// Dimensions of parameters that are split over one of these axes, or a part of one, so far.
  llvm::SmallVector<std::pair<nn::SlotOp, int>> splitOver(llvm::ArrayRef<AxisRef> axes) const;

  /// What `split` tactics found, in plan order.
  llvm::ArrayRef<ExplicitSplit> explicitSplits() const { return splits; }

private:
  bool checkExpertAxes(ExpertsOp tactic);
  bool leftToExperts(nn::SlotOp slot, llvm::ArrayRef<AxisRef> axes) const;
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

/// Whether the sequences of all inputs can be split as `context` and `sequence` ask: a multiple of cp * lcm(2, tp)
/// under both, of 2 cp or of tp under one alone. Reports a fault at the tactic.
bool checkSequenceLengths(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh);

/// State and accumulators, once every parameter has its sharding: as the parameter; accumulators partial over the data
/// axes. ZeRO splits a parameter's state (1), accumulators (2) and itself (3) over its axes as well, but for those that
/// split the parameter already: along the first dimension that they divide after the other splits, else along the
/// largest. Parameters of fewer than `wholeBelow` bytes in f32 stay as they are. What is split at rest is `used as` the
/// parameter would be; under `zero 3` without `gather` the plan is told what was chosen.
void shardState(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, int64_t wholeBelow);
/// `begin` gathers the parameter into a value slot of its name, and microbatches read that.
void gatherInBegin(nn::TrainingStepOp step, nn::SlotOp param, ShardingAttr used);
/// Accumulators of gradients that are sums over tokens which `context` and `sequence` have put on different ranks are
/// partial over those axes as well, and joined once, in `update`. `settled` knows how gradients are made.
void waitForTokens(const Propagation &settled, PlanOp plan);
} // namespace hocket::dist
