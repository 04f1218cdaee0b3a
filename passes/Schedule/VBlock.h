// Schedules that repeat one building block over a V: each microbatch runs its forwards and backwards at fixed distances
// from stage to stage, and starts one interval of six passes (two chunks of forward, backward, weight gradient) after
// the one before. A stage's share of memory is the lifetime of a block over the interval. (Qi et al., "Pipeline
// Parallelism with Controllable Memory", arXiv 2405.15362, section 3.)
#pragma once

#include "passes/Schedule/Assemble.h"

namespace hocket::schedule {

/// Passes from a stage to the next one that the microbatch visits: forwards down (chunk 0) and up (chunk 1), backwards
/// down (chunk 1) and up (chunk 0).
struct VBlock {
  uint32_t forwardDown, forwardUp, backwardDown, backwardUp;
};

/// The orders of forwards and backwards (no weight gradients) of the repeated block; at the turns of the V the earliest
/// places are taken at which no two passes of a stage fall on the same sixth of the interval, where there are such.
Orders repeatVBlock(const VBlock &block, uint32_t stages, uint32_t microbatches);

} // namespace hocket::schedule
