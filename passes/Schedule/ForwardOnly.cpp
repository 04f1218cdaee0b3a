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

namespace hocket::schedule {

Orders orderForwardOnly(const Problem &problem) {
  Orders orders(problem.stages);
  // Chunk after chunk: a stage's chunks lie in the order of the model, so each waits only for chunks before it.
  for (uint32_t k = 0; k < problem.virtualStages(); ++k)
    for (uint32_t i = 0; i < problem.microbatches; ++i)
      orders[problem.place(k).stage].push_back({BodyKind::Evaluate, problem.place(k).chunk, i});
  return orders;
}

} // namespace hocket::schedule
