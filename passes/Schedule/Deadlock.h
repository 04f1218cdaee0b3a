// Why rows wait for ever: the shortest circle of streams whose first waiting rows wait for each other.
#pragma once

#include "passes/Schedule/Execution.h"

namespace hocket::schedule {

/// Nothing when `execution` finished. Else the fault names the semantics and the time after which nothing runs; each
/// note is one edge of the circle: stage, time from which it waits, row, and what it waits for. Shortest over the
/// streams' first waiting rows, of which there are at most maxStreams a stage (quadratic in them).
std::optional<Fault> findDeadlock(const RowGraph &graph, const Execution &execution, Semantics semantics);

} // namespace hocket::schedule
