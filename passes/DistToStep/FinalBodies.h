// Reductions of gradients during backward: where the plan overlaps gradients, the last microbatch has bodies of its
// own, which also reduce accumulators as soon as nothing more is added to them.
#pragma once
#include "dialect/Step/Step.h"

namespace hocket::step {

/// Which body of a microbatch adds last to the accumulators that a collective of `update` reduces.
struct LastAdder {
  BodyKind kind; ///< backward or weight_grad
  uint64_t chunk;
  bool operator==(const LastAdder &) const = default;
};

/// Of the collectives of `update`, before or after they are coalesced. None for what is no reduction of accumulators
/// within one stage, or of accumulators of several chunks: of these it depends on the schedule which comes last.
class LastAdders {
public:
  LastAdders(ProgramOp program, dist::AxesAttr stageAxes);
  std::optional<LastAdder> of(CollectiveOp collective) const;

private:
  dist::AxesAttr stageAxes;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<BodyOp, 2>> storedBy; ///< accumulator -> bodies of a microbatch
};

/// Moves such reductions from update into final_backward and final_weight_grad, copies of the bodies above: each starts
/// behind the last store to its accumulators, and leaves its result in a buffer that update loads. What is reduced
/// whole lies over its accumulator, alone, as the sum of several (over the first) or out of a bucket. The same tensors
/// are reduced over the same ranks, so the bits are the same.
void reduceInFinalBodies(ProgramOp program, dist::AxesAttr stageAxes);
} // namespace hocket::step
