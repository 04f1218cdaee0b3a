// 1F1B: stage s of p runs min(m, p-1-s) forwards ahead, then one forward and one backward in turn, then the backwards
// that are left. (Narayanan et al., "PipeDream-Flush" in arXiv 2006.09503, section 3.2, and Megatron-LM, arXiv
// 2104.04473, figure 4, top.)
//
// p = 4, m = 8, forward = backward = 1:
//
// time    0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15 16 17 18 19 20 21
// stage 0 F0 F1 F2 F3 .  .  .  B0 F4 B1 F5 B2 F6 B3 F7 B4 .  B5 .  B6 .  B7
// stage 1 .  F0 F1 F2 .  .  B0 F3 B1 F4 B2 F5 B3 F6 B4 F7 B5 .  B6 .  B7 .
// stage 2 .  .  F0 F1 .  B0 F2 B1 F3 B2 F4 B3 F5 B4 F6 B5 F7 B6 .  B7 .  .
// stage 3 .  .  .  F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7 .  .  .
//
// Bubble (p-1)/(m+p-1) of the makespan, as GPipe; min(m, p-s) microbatches in flight on stage s. Legal for m < p.
#include "passes/Schedule/Solvers.h"

#include <algorithm>
namespace hocket::schedule {

std::optional<Orders> orderOneFOneB(const Problem &problem, Faults &faults) {
  uint32_t m = problem.microbatches;
  Orders orders(problem.stages);
  for (uint32_t s = 0; s < problem.stages; ++s) {
    uint32_t ahead = std::min(m, problem.stages - 1 - s);
    for (uint32_t i = 0; i < m + ahead; ++i) {
      if (i < m)
        orders[s].push_back({BodyKind::Forward, 0, i});
      if (i < ahead)
        continue;
      orders[s].push_back({BodyKind::Backward, 0, i - ahead});
      if (problem.splitWeightGrad)
        orders[s].push_back({BodyKind::WeightGrad, 0, i - ahead});
    }
  }
  return orders;
}

} // namespace hocket::schedule
