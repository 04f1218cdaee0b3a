// Interleaved 1F1B: v chunks a stage, virtual stage k on stage k mod p. Microbatches go in groups of p: a stage runs
// its first chunk on a whole group, then the next chunk on the same group. Stage s runs 2(p-1-s) + (v-1)p forwards
// ahead, then one forward and one backward in turn. (Narayanan et al., arXiv 2104.04473, section 2.2 and figure 4,
// bottom.)
//
// p = 4, m = 8, v = 2, forward = backward = 1:
//
// clang-format off
// time    0   1   2   3   4   5   6   7   8   9   10  11  12  13  14  15  16  17  18  19  20  21  22  23  24  25  26  27  28  29  30  31  32  33  34  35  36  37
// stage 0 F0a F1a F2a F3a F0b F1b F2b F3b F4a F5a F6a B0b F7a B1b .   .   F4b B2b F5b B3b F6b B0a F7b B1a B2a B3a .   B4b .   B5b .   B6b .   B7b B4a B5a B6a B7a
// stage 1 .   F0a F1a F2a F3a F0b F1b F2b F3b F4a B0b F5a B1b F6a B2b F7a B3b F4b B0a F5b B1a F6b B2a F7b B3a .   B4b .   B5b .   B6b .   B7b B4a B5a B6a B7a .
// stage 2 .   .   F0a F1a F2a F3a F0b F1b F2b B0b F3b B1b F4a B2b F5a B3b F6a B0a F7a B1a F4b B2a F5b B3a F6b B4b F7b B5b .   B6b .   B7b B4a B5a B6a B7a .   .
// stage 3 .   .   .   F0a F1a F2a F3a F0b B0b F1b B1b F2b B2b F3b B3b F4a B0a F5a B1a F6a B2a F7a B3a F4b B4b F5b B5b F6b B6b F7b B7b B4a B5a B6a B7a .   .   .
// clang-format on
//
// Bubble (p-1)/(v m + p-1) of the makespan: that of 1F1B divided by v. min(2(p-1-s) + (v-1)g + 1, v m) chunks in flight
// on stage s, g being the longest group: floor(m/p) groups as equal as can be, each of p where that divides m. m >= p;
// of unequal groups the bubble is larger.
#include "passes/Schedule/Solvers.h"

#include <algorithm>
#include <fmt/format.h>

namespace hocket::schedule {

std::optional<Orders> orderInterleaved(const Problem &problem, Faults &faults) {
  uint32_t p = problem.stages, v = problem.chunks, m = problem.microbatches;
  if (m < p) {
    faults.push_back(
        {fmt::format("interleaved-1f1b needs at least as many microbatches as stages: {} < {}; raise the "
                     "batch or lower the microbatch until there are {}, or use 1f1b (bubble {}/{} = {:.3f})",
                     m, p, p, p - 1, m + p - 1, double(p - 1) / (m + p - 1)),
         {}});
    return std::nullopt;
  }
  std::vector<Step> forwards, backwards; // the same on every stage
  uint32_t groups = m / p, longest = (m + groups - 1) / groups;
  for (uint32_t g = 0, first = 0; g < groups; ++g) {
    uint32_t end =
        first + (m - first + groups - g - 1) / (groups - g); // sizes differ by at most one, longer ones first
    for (uint32_t c = 0; c < v; ++c)
      for (uint32_t i = first; i < end; ++i) {
        forwards.push_back({BodyKind::Forward, uint16_t(c), i});
        backwards.push_back({BodyKind::Backward, uint16_t(v - 1 - c), i});
      }
    first = end;
  }
  Orders orders(p);
  for (uint32_t s = 0; s < p; ++s) {
    size_t ahead = std::min<size_t>(2 * (p - 1 - s) + (v - 1) * size_t(longest), forwards.size());
    for (size_t i = 0; i < forwards.size() + ahead; ++i) {
      if (i < forwards.size())
        orders[s].push_back(forwards[i]);
      if (i < ahead)
        continue;
      Step backward = backwards[i - ahead];
      orders[s].push_back(backward);
      if (problem.splitWeightGrad)
        orders[s].push_back({BodyKind::WeightGrad, backward.chunk, backward.microbatch});
    }
  }
  return orders;
}

} // namespace hocket::schedule
