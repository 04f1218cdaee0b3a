// Searches a schedule of one chunk a stage with split backward for given times and a given memory. (The problem of Qi
// et al., arXiv 2401.10241, section 3, which they solve by a heuristic and an integer program.)
#pragma once

#include "passes/Schedule/Assemble.h"

namespace hocket::schedule {

enum class Goal {
  Span,    ///< least longest time from a stage's first body to its last: what counts where steps follow each other
           ///< unsynchronised
  Makespan ///< least time from the first body of any stage to the last of any
};

/// The best order found among: 1F1B, ZB-H1, ZB-H2 and GPipe, as far as they fit; and orders in which stage s starts
/// a1 (p-1-s) forwards ahead and ends a2 (p-1-s) ahead, for a1, a2 and the place of the change on a grid, with weight
/// gradients where stages would wait. What is compared is the simulated time of the assembled tables, so the result is
/// never worse than the named ones that fit. `capacity`: most that a stage may hold, in microbatches; at least p, or a
/// fault says so where nothing fits. The grid is thinned for large problems: at least 8 orders are tried.
std::optional<Orders> searchOrders(const Problem &problem, double capacity, Goal goal, Faults &faults);

} // namespace hocket::schedule
