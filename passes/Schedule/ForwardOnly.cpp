// The order of the eval entry: every stage evaluates its microbatches in order, whatever the training schedule is.
//
// p = 4, m = 8, forward = 1:
//
// time    0  1  2  3  4  5  6  7  8  9  10
// stage 0 E0 E1 E2 E3 E4 E5 E6 E7 .  .  .
// stage 1 .  E0 E1 E2 E3 E4 E5 E6 E7 .  .
// stage 2 .  .  E0 E1 E2 E3 E4 E5 E6 E7 .
// stage 3 .  .  .  E0 E1 E2 E3 E4 E5 E6 E7
#include "passes/Schedule/Solvers.h"

#include <algorithm>

namespace hocket::schedule {

Orders orderForwardOnly(const Problem &problem) {
  Orders orders(problem.stages);
  // Chunk after chunk, but only p microbatches at a time: those of all would have to wait in slots between two chunks.
  uint32_t group = problem.chunks > 1 ? problem.stages : problem.microbatches;
  for (uint32_t first = 0; first < problem.microbatches; first += group)
    for (uint32_t k = 0; k < problem.virtualStages(); ++k)
      for (uint32_t i = first; i < std::min(problem.microbatches, first + group); ++i)
        orders[problem.place(k).stage].push_back({BodyKind::Evaluate, problem.place(k).chunk, i});
  return orders;
}

} // namespace hocket::schedule
