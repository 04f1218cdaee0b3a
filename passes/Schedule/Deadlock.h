// Why rows wait for ever: the shortest circle of streams whose first waiting rows wait for each other.
#pragma once

#include "passes/Schedule/Execution.h"

namespace hocket::schedule {

/// "communicator ring", or "the communicator of edge 0 -> 1" where the tables name none.
std::string sayCommunicator(const RowGraph &graph, uint32_t message);

/// Nothing when `execution` finished. Else the fault names the semantics and the time after which nothing runs; each
/// note is one edge of the circle: stage, time from which it waits, row, and what it waits for. Shortest over the
/// streams' first waiting rows, of which there are at most maxStreams a stage (quadratic in them). `byOwnWaits`: gets
/// the rows of the circle that stand in it by what they themselves say that they wait for.
std::optional<Fault> findDeadlock(const RowGraph &graph, const Execution &execution, Semantics semantics,
                                  std::vector<RowId> *byOwnWaits = nullptr);

} // namespace hocket::schedule
