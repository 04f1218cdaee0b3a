// V-Min: the shortest building block over the V, every pass right after the one it needs: a third of the memory of
// 1F1B. (Qi et al., arXiv 2405.15362, section 3.2, figure 4a.)
//
// p = 4, m = 8, forward = backward = weight gradient = 1:
//
// clang-format off
// time    0   1   2   3   4   5   6   7   8   9   10  11  12  13  14  15  16  17  18  19  20  21  22  23  24  25  26  27  28  29  30  31  32  33  34  35  36  37  38  39  40  41  42  43  44  45  46  47  48  49  50  51  52  53  54  55  56  57  58
// stage 0 F0a F1a .   .   .   .   .   F0b B0b F2a W0b .   .   F1b B1b B0a W1b F3a W0a F2b B2b B1a W2b F4a W1a F3b B3b B2a W3b F5a W2a F4b B4b B3a W4b F6a W3a F5b B5b B4a W5b F7a W4a F6b B6b B5a W6b W5a .   F7b B7b B6a W7b W6a .   .   .   B7a W7a
// stage 1 .   F0a .   .   .   .   F0b F1a .   B0b W0b .   F1b F2a B0a B1b W0a W1b F2b F3a B1a B2b W1a W2b F3b F4a B2a B3b W2a W3b F4b F5a B3a B4b W3a W4b F5b F6a B4a B5b W4a W5b F6b F7a B5a B6b W5a W6b F7b .   B6a B7b W6a W7b .   .   B7a W7a .
// stage 2 .   .   F0a .   .   F0b .   .   F1a .   B0b F1b W0b B0a F2a W0a B1b F2b W1b B1a F3a W1a B2b F3b W2b B2a F4a W2a B3b F4b W3b B3a F5a W3a B4b F5b W4b B4a F6a W4a B5b F6b W5b B5a F7a W5a B6b F7b W6b B6a W6a .   B7b W7b .   B7a W7a .   .
// stage 3 .   .   .   F0a F0b .   .   .   .   F1a F1b B0b B0a W0b W0a F2a F2b B1b B1a W1b W1a F3a F3b B2b B2a W2b W2a F4a F4b B3b B3a W3b W3a F5a F5b B4b B4a W4b W4a F6a F6b B5b B5a W5b W5a F7a F7b B6b B6a W6b W6a .   .   B7b B7a W7b W7a .   .
// clang-format on
//
// 2 ceil((p+2)/3) chunks in flight: ceil((p+2)/3) microbatches where 1F1B has p. Time lost with equal times of one
// chunk and m >= 2p: 4p - 5 (4p - 3 where p is a multiple of 3), where 1F1B over the same model loses 6(p-1).
#include "passes/Schedule/FillWeightGrads.h"
#include "passes/Schedule/Solvers.h"
#include "passes/Schedule/VBlock.h"

namespace hocket::schedule {

std::optional<Orders> orderVMin(const Problem &problem, Faults &) {
  Orders orders = repeatVBlock({1, 1, 1, 1}, problem.stages, problem.microbatches);
  return fillWeightGrads(problem, orders, {.capacity = 2.0 * ((problem.stages + 4) / 3)})->orders;
}

} // namespace hocket::schedule
