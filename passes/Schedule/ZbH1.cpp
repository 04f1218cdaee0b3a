// ZB-H1: 1F1B whose backward is split: stage s runs its weight gradients s backwards late, so that those of the last
// stages fill the end of the step. (Qi et al., "Zero Bubble Pipeline Parallelism", arXiv 2401.10241, section 2.1,
// figure 2.)
//
// p = 4, m = 8, forward = backward = weight gradient = 1:
//
// time    0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26
// stage 0 F0 F1 F2 F3 .  .  .  B0 W0 F4 B1 W1 F5 B2 W2 F6 B3 W3 F7 B4 W4 B5 W5 B6 W6 B7 W7
// stage 1 .  F0 F1 F2 .  .  B0 F3 B1 W0 F4 B2 W1 F5 B3 W2 F6 B4 W3 F7 B5 W4 B6 W5 B7 W6 W7
// stage 2 .  .  F0 F1 .  B0 F2 B1 F3 B2 W0 F4 B3 W1 F5 B4 W2 F6 B5 W3 F7 B6 W4 B7 W5 W6 W7
// stage 3 .  .  .  F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 F6 B6 W3 F7 B7 W4 W5 W6 W7
//
// Bubble (p-1)(T_F + T_B - T_W) of time, where 1F1B has (p-1)(T_F + T_B + T_W); min(m, p) microbatches in flight on
// every stage. Holds for T_F and T_B at least T_W; legal for any m.
#include "passes/Schedule/DeferWeightGrads.h"
#include "passes/Schedule/Solvers.h"

namespace hocket::schedule {

std::optional<Orders> orderZbH1(const Problem &problem, Faults &) {
  Orders orders;
  for (uint32_t s = 0; s < problem.stages; ++s)
    orders.push_back(orderWithLateWeightGrads(problem.microbatches, problem.stages - 1 - s, s));
  return orders;
}

} // namespace hocket::schedule
