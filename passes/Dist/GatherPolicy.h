// Which gathers of the forward are made again for the backward instead of being kept: what is kept is then the shard.
#pragma once
#include "passes/Dist/Reshard.h"

namespace hocket::dist {

class GatherPolicy {
public:
  GatherPolicy(const Propagation &propagation, PlanOp plan) : propagation(propagation), plan(plan) {}

  /// True if what `steps` make of `value`, of the microbatch, is made again in each phase that uses it. Only gathers
  /// are: other steps make nothing larger than what they take; and slices of what a slot holds. One rule a tactic:
  ///   sequence over tp          values split along the sequence, unless it says `keep gathered`
  ///   context over cp           keys and values, documents
  ///   zero 3 … gather per_use   parameters that are split further at rest than they are used
  bool isMadeAgain(mlir::Value value, llvm::ArrayRef<ReshardStep> steps) const;

private:
  bool gathersTokens(llvm::ArrayRef<ReshardStep> steps) const;
  const Propagation &propagation;
  PlanOp plan;
};
} // namespace hocket::dist
