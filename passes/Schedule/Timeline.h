// A simulated step drawn in ASCII: a line a stage, a column a unit of time.
#pragma once

#include "passes/Schedule/Simulator.h"

namespace hocket::schedule {

struct TimelineOptions {
  double unit = 0; ///< time of one column; 0: the shortest body that takes time, or more so that `columns` suffice
  uint32_t columns = 1024; ///< most columns when unit is 0
  const char *indent = ""; ///< before every line
};

/// Forward is F, backward B, weight gradient W, recompute R, evaluate E, each with its microbatch and, with more than
/// one chunk a stage, the chunk's letter (F3b); '=' continues a body, '.' is idle; begin and update are '[' and ']'
/// where they take time. A column shows the body that runs at its middle.
///
///   time    0  1  2  3
///   stage 0 F0 B0 == .
std::string renderTimeline(const Tables &tables, const Simulation &simulation, const TimelineOptions &options = {});

} // namespace hocket::schedule
