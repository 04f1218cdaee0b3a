// V-Half: a building block over the V whose way down takes twice as long as its way up: half the memory of 1F1B. (Qi et
// al., arXiv 2405.15362, section 3.2, figure 4b.)
//
// p = 4, m = 8, forward = backward = weight gradient = 1:
//
// clang-format off
// time    0   1   2   3   4   5   6   7   8   9   10  11  12  13  14  15  16  17  18  19  20  21  22  23  24  25  26  27  28  29  30  31  32  33  34  35  36  37  38  39  40  41  42  43  44  45  46  47  48  49  50  51  52  53  54  55
// stage 0 F0a F1a .   .   .   .   .   F0b B0b F2a W0b .   F1b B1b F3a W1b .   F2b B2b F4a B0a W2b W0a F3b B3b F5a B1a W3b W1a F4b B4b F6a B2a W4b W2a F5b B5b F7a B3a W5b W3a F6b B6b B4a W6b W4a F7b B7b B5a W7b W5a .   B6a W6a B7a W7a
// stage 1 .   F0a F1a .   .   .   F0b .   .   B0b F2a F1b W0b .   B1b F3a F2b W1b B0a B2b F4a W0a F3b W2b B1a B3b F5a W1a F4b W3b B2a B4b F6a W2a F5b W4b B3a B5b F7a W3a F6b W5b B4a B6b W4a F7b W6b B5a B7b W5a W7b B6a W6a B7a W7a .
// stage 2 .   .   F0a .   .   F0b F1a .   .   F1b B0b F2a W0b .   F2b B1b F3a B0a W1b W0a F3b B2b F4a B1a W2b W1a F4b B3b F5a B2a W3b W2a F5b B4b F6a B3a W4b W3a F6b B5b F7a B4a W5b W4a F7b B6b B5a W6b W5a B7b B6a W7b B7a W6a W7a .
// stage 3 .   .   .   F0a F0b .   .   F1a F1b .   .   B0b F2a F2b B0a W0b B1b F3a W0a F3b B1a W1b B2b F4a W1a F4b B2a W2b B3b F5a W2a F5b B3a W3b B4b F6a W3a F6b B4a W4b B5b F7a W4a F7b B5a W5b B6b B6a W5a W6b B7b B7a W6a W7b W7a .
// clang-format on
//
// 2 floor(p/2) + 2 chunks in flight: floor(p/2) + 1 microbatches where 1F1B has p. Time lost with equal times of one
// chunk and m >= 2p: 3p - 4, where 1F1B over the same model loses 6(p-1).
#include "passes/Schedule/FillWeightGrads.h"
#include "passes/Schedule/Solvers.h"
#include "passes/Schedule/VBlock.h"

namespace hocket::schedule {

std::optional<Orders> orderVHalf(const Problem &problem, Faults &) {
  Orders orders = repeatVBlock({2, 1, 2, 1}, problem.stages, problem.microbatches);
  return fillWeightGrads(problem, orders, {.capacity = 2.0 * (problem.stages / 2 + 1)})->orders;
}

} // namespace hocket::schedule
