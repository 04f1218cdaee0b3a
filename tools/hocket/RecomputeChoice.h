// What `recompute auto` stands for under a given memory.
//
// For each stage by itself, among all choices for its units (layers, or the parts that the pattern names): nothing, any
// selective parts, the whole selectively, the whole; the one that fits with the fewest operations made again. A unit's
// bytes and operations come from lowering the plan with every unit alike; choices are then combined, of which only
// those that no other beats in both are followed (a knapsack), and what is chosen is proved by the planned memory: what
// does not fit after all is chosen again with so many bytes less. Of units that are alike the first ones are made again
// (the block method of Megatron-LM), or where that does not fit the last.
#pragma once
#include "tools/hocket/Lowering.h"

namespace hocket::tools {

/// Replaces every `recompute auto` of the job's plan by explicit tactics and prints them on stderr. Without a limit
/// nothing is done: lowering says what is missing. False, after errors with the numbers of every stage, where even the
/// least that can be kept does not fit.
bool chooseRecompute(Session &session, Job &job, std::optional<uint64_t> limitBytes);
} // namespace hocket::tools
