// ZB-H2: twice as many forwards ahead as 1F1B, and weight gradients twice as late as in ZB-H1: with equal times no
// stage waits between its first body and its last. (Qi et al., arXiv 2401.10241, section 2.2, figure 3.)
//
// p = 4, m = 8, forward = backward = weight gradient = 1:
//
// time    0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26
// stage 0 F0 F1 F2 F3 F4 F5 F6 B0 W0 F7 B1 W1 B2 W2 B3 W3 B4 W4 B5 W5 B6 W6 B7 W7 .  .  .
// stage 1 .  F0 F1 F2 F3 F4 B0 F5 B1 F6 B2 W0 F7 B3 W1 B4 W2 B5 W3 B6 W4 B7 W5 W6 W7 .  .
// stage 2 .  .  F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 F6 B4 W0 F7 B5 W1 B6 W2 B7 W3 W4 W5 W6 W7 .
// stage 3 .  .  .  F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 W0 F7 B7 W1 W2 W3 W4 W5 W6 W7
//
// Bubble (p-1)(T_F + T_B - 2 T_W) of time within a stage's span (the makespan has the p-1 forwards of the start as
// well); min(m, 2p-1) microbatches in flight on every stage. m >= 2p-1 for these; legal for any m.
#include "passes/Schedule/DeferWeightGrads.h"
#include "passes/Schedule/Solvers.h"

namespace hocket::schedule {

std::optional<Orders> orderZbH2(const Problem &problem, Faults &) {
  Orders orders;
  for (uint32_t s = 0; s < problem.stages; ++s)
    orders.push_back(orderWithLateWeightGrads(problem.microbatches, 2 * (problem.stages - 1 - s), 2 * s));
  return orders;
}

} // namespace hocket::schedule
