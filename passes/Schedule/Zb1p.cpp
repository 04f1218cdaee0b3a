// ZB-1p: the shortest stage span that the search finds with the memory of 1F1B, p microbatches a stage. (Qi et al.,
// arXiv 2401.10241, section 5.1; there "1p" is the same bound.)
//
// p = 4, m = 8, forward = backward = weight gradient = 1:
//
// time    0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26
// stage 0 F0 F1 F2 F3 .  .  .  B0 W0 F4 B1 W1 F5 B2 W2 F6 B3 W3 F7 B4 W4 B5 W5 B6 W6 B7 W7
// stage 1 .  F0 F1 F2 .  .  B0 F3 B1 W0 F4 B2 W1 F5 B3 W2 F6 B4 W3 F7 B5 W4 B6 W5 B7 W6 W7
// stage 2 .  .  F0 F1 .  B0 F2 B1 F3 B2 W0 F4 B3 W1 F5 B4 W2 F6 B5 W3 F7 B6 W4 B7 W5 W6 W7
// stage 3 .  .  .  F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 F6 B6 W3 F7 B7 W4 W5 W6 W7
#include "passes/Schedule/Search.h"
#include "passes/Schedule/Solvers.h"

namespace hocket::schedule {

std::optional<Orders> orderZb1p(const Problem &problem, Faults &faults) {
  return searchOrders(problem, problem.stages, Goal::Span, faults);
}

} // namespace hocket::schedule
