// Which values of forward are made again in backward, and of what.
//
// full        all that a unit makes but what others use of it: what goes into the unit is kept
// selective   what is cheap for its bytes, where that saves some (LeastKept.h): norms, activations, masks, sums, casts,
//             and attention, whose operands are kept anyway (Korthikanti et al. 2022, section 5). Never a product with
//             a parameter, never a collective. Parts of one layer are decided together.
//
// Where the partitioner gathers a value once for forward and once for backward (ZeRO-3, sequences; GatherPolicy.h),
// what is made again reads what backward gathers.
#pragma once
#include "passes/Dist/RecomputeUnits.h"
#include "llvm/ADT/DenseSet.h"

namespace hocket::dist {

class RemadeValues {
public:
  RemadeValues(nn::TrainingStepOp step, const RecomputeUnits &units);

  bool contains(mlir::Value forward) const { return remade.contains(forward); }
  /// The op of backward that makes the same as `forward` of the same values; null for most.
  mlir::Operation *twin(mlir::Operation *forward) const { return twins.lookup(forward); }

private:
  void findTwins(mlir::Block &block);
  bool isOnlyUsedIn(mlir::Value value, llvm::StringRef unit) const;
  void chooseFull(mlir::Block &block);
  void chooseSelective(mlir::Block &block);
  bool isCheap(mlir::Operation *op) const;

  const RecomputeUnits &units;
  llvm::DenseSet<mlir::Value> remade;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> twins;
};
} // namespace hocket::dist
