// What a set of tables costs in time: when each row runs with given durations, and how much of the time stages stand
// idle.
#pragma once

#include "passes/Schedule/Execution.h"

namespace hocket::schedule {

struct Simulation {
  std::vector<std::vector<double>> start, end; ///< by stage and row, in the problem's unit
  double makespan = 0;                         ///< end of the last row of any stage
  double busy = 0; ///< sum over stages of what their bodies take: the ideal, stages * busy each
  /// Longest time from a stage's first body to the end of its last one (the zero-bubble papers' cost).
  double stageSpan = 0;
  std::vector<double> busyOfStage, spanOfStage;
  /// Most (chunk, microbatch) pairs that a stage holds at a time, from the start of the first row that uses a slot
  /// (receive of the activation or forward) to the end of the last.
  std::vector<uint32_t> inFlightOfStage;

  double stages() const { return double(busyOfStage.size()); }
  /// Idle share of stages * makespan: (p-1)/(m+p-1) for GPipe and 1F1B with equal stages.
  double bubbleOfTotal() const { return idleShare(stages() * makespan, stages() * makespan); }
  /// Idle time over ideal time: (p-1)/m for the same.
  double bubbleOfIdeal() const { return idleShare(stages() * makespan, busy); }
  double spanBubbleOfTotal() const { return idleShare(stages() * stageSpan, stages() * stageSpan); }
  double spanBubbleOfIdeal() const { return idleShare(stages() * stageSpan, busy); }

private:
  double idleShare(double total, double of) const { return of > 0 ? (total - busy) / of : 0; }
};

/// Nothing, and the deadlock as a fault, when not every row runs. Precondition: checkShape, and a problem with the same
/// number of stages.
std::optional<Simulation> simulate(const Problem &problem, const Tables &tables, Semantics semantics, Faults &faults);

/// "makespan 22, bubble 0.2727 of total, 0.3750 of ideal; longest stage span 22, bubble …; in flight 4 3 2 1"
std::string summary(const Simulation &simulation);

} // namespace hocket::schedule
