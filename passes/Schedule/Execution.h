// Runs the rows of all stages in the order that streams, waits and messages give, each as early as it can, and says
// when each ran and which never could.
#pragma once

#include "passes/Schedule/Problem.h"
#include "passes/Schedule/RowGraph.h"

namespace hocket::schedule {

inline constexpr double never = -1;

struct Execution {
  /// By row; `never` for rows that did not run. A transfer starts at both ends when both are ready (buffered: the
  /// receive starts with the send); both ends then last Times::communication of the sender.
  std::vector<double> start, end;
  /// By row: its place in an order that respects every stream, wait and message; noRow for rows that did not run. Under
  /// rendezvous the two rows of a transfer are neighbours.
  std::vector<uint32_t> sequence;
  std::vector<uint32_t> done; ///< by stage * maxStreams + stream: how many of its rows ran
  uint32_t rowsRun = 0;
  double makespan = 0;

  bool finished() const { return rowsRun == sequence.size(); }
};

/// Linear in rows (times streams). A send or receive without a partner runs alone: it is a fault of its own, and what
/// stands behind it is judged as if it were mended.
Execution execute(const RowGraph &graph, const Problem &problem, Semantics semantics);

} // namespace hocket::schedule
