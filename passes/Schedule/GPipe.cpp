// GPipe: every stage runs all forwards, then all backwards. (Huang et al., "GPipe", arXiv 1811.06965, figure 2c; there
// the backwards run last microbatch first, here in microbatch order, in which weight gradients accumulate.)
//
// p = 4, m = 8, forward = backward = 1:
//
// time    0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15 16 17 18 19 20 21
// stage 0 F0 F1 F2 F3 F4 F5 F6 F7 .  .  .  .  .  .  B0 B1 B2 B3 B4 B5 B6 B7
// stage 1 .  F0 F1 F2 F3 F4 F5 F6 F7 .  .  .  .  B0 B1 B2 B3 B4 B5 B6 B7 .
// stage 2 .  .  F0 F1 F2 F3 F4 F5 F6 F7 .  .  B0 B1 B2 B3 B4 B5 B6 B7 .  .
// stage 3 .  .  .  F0 F1 F2 F3 F4 F5 F6 F7 B0 B1 B2 B3 B4 B5 B6 B7 .  .  .
//
// Bubble (p-1)/(m+p-1) of the makespan; m microbatches in flight on every stage.
#include "passes/Schedule/Solvers.h"

namespace hocket::schedule {

std::optional<Orders> orderGPipe(const Problem &problem, Faults &faults) {
  Orders orders(problem.stages);
  for (std::vector<Step> &order : orders) {
    for (uint32_t i = 0; i < problem.microbatches; ++i)
      order.push_back({BodyKind::Forward, 0, i});
    for (uint32_t i = 0; i < problem.microbatches; ++i) {
      order.push_back({BodyKind::Backward, 0, i});
      if (problem.splitWeightGrad)
        order.push_back({BodyKind::WeightGrad, 0, i});
    }
  }
  return orders;
}

} // namespace hocket::schedule
