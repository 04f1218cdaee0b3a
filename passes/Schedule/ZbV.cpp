// ZB-V: two chunks a stage, placed as a V: the first stage holds the first and the last of the model, so that a
// microbatch comes back to where it started and its backward begins there at once. (Qi et al., arXiv 2401.10241,
// section 6 and figure 7.)
//
// p = 4, m = 8, forward = backward = weight gradient = 1:
//
// clang-format off
// time    0   1   2   3   4   5   6   7   8   9   10  11  12  13  14  15  16  17  18  19  20  21  22  23  24  25  26  27  28  29  30  31  32  33  34  35  36  37  38  39  40  41  42  43  44  45  46  47  48  49  50
// stage 0 F0a F1a F2a F3a F4a F5a F6a F0b B0b W0b F1b B1b W1b F2b B2b W2b F3b B3b W3b F7a B0a W0a F4b B4b W4b B1a W1a F5b B5b W5b B2a W2a F6b B6b W6b B3a W3a F7b B7b B4a W7b B5a W4a B6a W5a B7a W6a W7a .   .   .
// stage 1 .   F0a F1a F2a F3a F4a F0b F5a F1b B0b W0b F2b B1b W1b F3b B2b W2b F6a B0a W0a F4b B3b W3b F7a B1a W1a F5b B4b W4b B2a W2a F6b B5b W5b B3a W3a F7b B6b B4a B7b B5a W6b B6a W4a B7a W7b W5a W6a W7a .   .
// stage 2 .   .   F0a F1a F2a F0b F3a F1b F4a F2b B0b W0b F3b B1b W1b F5a B0a W0a F4b B2b W2b F6a B1a W1a F5b B3b W3b F7a B2a W2a F6b B4b W4b B3a W3a F7b B5b B4a B6b B5a B7b B6a W5b B7a W4a W6b W5a W7b W6a W7a .
// stage 3 .   .   .   F0a F0b F1a F1b F2a F2b F3a F3b B0b W0b F4a B0a W0a F4b B1b W1b F5a B1a W1a F5b B2b W2b F6a B2a W2a F6b B3b W3b F7a B3a W3a F7b B4b B4a B5b B5a B6b B6a B7b B7a W4b W4a W5b W5a W6b W6a W7b W7a
// clang-format on
//
// Stage s: 2(p-s)-1 forwards of chunk 0; s pairs of a forward of each chunk; p-s pairs of a forward and a backward of
// chunk 1; then in turn a forward and a backward of chunk 0, a forward and a backward of chunk 1; weight gradients
// where a stage would wait, or holds 2p chunks. With equal times no stage waits between its first and last body for m
// >= 2p-1; the makespan has the p-1 forwards of the start as well. At most 2p chunks are in flight from their forwards
// on: the memory of 1F1B; an activation that waits for its forward takes one slot more.
#include "passes/Schedule/FillWeightGrads.h"
#include "passes/Schedule/Solvers.h"

#include <array>

namespace hocket::schedule {

static std::vector<Step> orderOfStage(uint32_t p, uint32_t m, uint32_t s) {
  std::vector<Step> order;
  std::array<uint32_t, 2> forwards{}, backwards{};
  auto add = [&](BodyKind kind, uint16_t chunk) {
    uint32_t &next = (kind == BodyKind::Forward ? forwards : backwards)[chunk];
    if (next < m)
      order.push_back({kind, chunk, next++});
  };
  constexpr BodyKind F = BodyKind::Forward, B = BodyKind::Backward;
  for (uint32_t i = 0; i < 2 * (p - s) - 1; ++i)
    add(F, 0);
  for (uint32_t i = 0; i < s; ++i)
    add(F, 1), add(F, 0);
  for (uint32_t i = 0; i < p - s; ++i)
    add(F, 1), add(B, 1);
  while (forwards[0] < m || forwards[1] < m)
    add(F, 0), add(B, 0), add(F, 1), add(B, 1);
  while (backwards[0] < m || backwards[1] < m)
    add(B, 0), add(B, 1);
  return order;
}

std::optional<Orders> orderZbV(const Problem &problem, Faults &) {
  Orders orders;
  for (uint32_t s = 0; s < problem.stages; ++s)
    orders.push_back(orderOfStage(problem.stages, problem.microbatches, s));
  return fillWeightGrads(problem, orders, {.capacity = 2.0 * problem.stages})->orders;
}

} // namespace hocket::schedule
