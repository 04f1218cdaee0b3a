// Whether one row of a stage has surely finished before another of the same stage starts, whatever the durations.
#pragma once

#include "passes/Schedule/Execution.h"
#include "passes/Schedule/RowClocks.h"

namespace hocket::schedule {

/// Answers for one stage. An order that streams and waits of the stage itself express is looked up (vector clocks over
/// its streams); one that holds only through other stages costs a search of the rows that ran between the two.
class HappensBefore {
public:
  HappensBefore(const RowGraph &graph, const Execution &execution, Semantics semantics);

  /// Makes the clocks of a stage: linear in its rows. before() is then for rows of that stage.
  void enterStage(uint32_t stage);
  bool before(RowId a, RowId b);
  /// Of an order that holds: whether rows that ran say so, beside the stage's own streams and waits. Where `b` never
  /// ran, before() may know it from a circle alone, in which every row is before every other.
  bool beforeByRowsThatRan(RowId a, RowId b) { return beforeOnStage(a, b) || ran(b) || reaches(a, b, /*run=*/true); }
  /// Whether the stage's own streams and waits alone say so: no search.
  bool beforeOnStage(RowId a, RowId b) const { return clocks.before(a - first, b - first); }

private:
  bool ran(RowId id) const { return execution.sequence[id] != noRow; }
  /// `run`: over rows that ran alone, beside `a`, `b` and the other end of its message.
  bool reaches(RowId a, RowId b, bool run = false);
  template <typename Visit> void predecessors(RowId id, Visit visit) const;

  const RowGraph &graph;
  const Execution &execution;
  Semantics semantics;
  RowId first = 0;
  RowClocks clocks;              // of the stage
  std::vector<uint32_t> visited; // by row: number of the last search that met it
  uint32_t searches = 0;
};

} // namespace hocket::schedule
