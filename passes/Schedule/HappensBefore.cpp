// A backward search through all stages for what the clocks of one cannot show.
#include "passes/Schedule/HappensBefore.h"

#include <algorithm>

namespace hocket::schedule {

HappensBefore::HappensBefore(const RowGraph &graph, const Execution &execution, Semantics semantics)
    : graph(graph), execution(execution), semantics(semantics) {}

void HappensBefore::enterStage(uint32_t stage) {
  first = graph.firstOfStage[stage];
  clocks = RowClocks(graph.tables.stages[stage].rows);
}

bool HappensBefore::before(RowId a, RowId b) {
  return beforeOnStage(a, b) || (graph.row(a).stream != graph.row(b).stream && reaches(a, b));
}

template <typename Visit> void HappensBefore::predecessors(RowId id, Visit visit) const {
  uint32_t stage = graph.stageOf[id];
  const Row &row = graph.row(id);
  if (uint32_t at = graph.position[id])
    visit(graph.streamRows[graph.keyOf(id)][at - 1]);
  for (unsigned s = 0; s < maxStreams; ++s)
    if (row.wait[s])
      visit(graph.streamRow(stage, s, row.wait[s] - 1));
  if (semantics.nccl)
    visit(graph.launchedBefore[id]);
}

bool HappensBefore::reaches(RowId a, RowId b, bool run) {
  visited.resize(graph.size(), 0);
  ++searches;
  std::vector<RowId> stack;
  bool found = false;
  auto visit = [&](RowId id) {
    if (id == noRow || visited[id] == searches)
      return;
    visited[id] = searches;
    found |= id == a || (semantics.rendezvous() && graph.partner[id] == a);
    if (run && !ran(id))
      return;
    // Both rows of a transfer are neighbours in the sequence, so one place of slack keeps every path.
    if (!ran(id) || !ran(a) || execution.sequence[id] + 1 >= execution.sequence[a])
      stack.push_back(id);
  };
  // What has finished before `id` starts: at a transfer, also what came before its other end.
  auto expand = [&](RowId id) {
    predecessors(id, visit);
    RowId other = graph.partner[id];
    if (other == noRow)
      return;
    if (semantics.rendezvous())
      predecessors(other, visit);
    else
      visit(graph.isSend(id) ? graph.bufferedBehind(id, semantics) : other);
  };
  expand(b);
  while (!stack.empty() && !found) {
    RowId id = stack.back();
    stack.pop_back();
    expand(id);
  }
  return found;
}

} // namespace hocket::schedule
