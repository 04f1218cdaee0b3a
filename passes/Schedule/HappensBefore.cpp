// Vector clocks over the streams of one stage, and a backward search through all stages for what they cannot show.
#include "passes/Schedule/HappensBefore.h"

#include <algorithm>

namespace hocket::schedule {

HappensBefore::HappensBefore(const RowGraph &graph, const Execution &execution, Semantics semantics)
    : graph(graph), execution(execution), semantics(semantics) {}

void HappensBefore::enterStage(uint32_t stage) {
  first = graph.firstOfStage[stage];
  clocks.assign(graph.firstOfStage[stage + 1] - first, Clock{});
  std::array<uint32_t, maxStreams> done{};
  // Streams advance in turn as far as their waits allow; messages do not hold them up. Rows in a circle of waits keep
  // an empty clock (the deadlock is reported).
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned s = 0; s < maxStreams; ++s) {
      const std::vector<RowId> &rows = graph.streamRows[stage * maxStreams + s];
      for (; done[s] < rows.size(); ++done[s], moved = true) {
        const Row &row = graph.row(rows[done[s]]);
        bool ready = true;
        for (unsigned t = 0; t < maxStreams; ++t)
          ready &= row.wait[t] <= done[t];
        if (!ready)
          break;
        Clock &clock = clocks[rows[done[s]] - first];
        auto join = [&](RowId id) {
          for (unsigned t = 0; t < maxStreams; ++t)
            clock[t] = std::max(clock[t], clocks[id - first][t]);
        };
        if (done[s])
          join(rows[done[s] - 1]);
        for (unsigned t = 0; t < maxStreams; ++t)
          if (row.wait[t]) {
            join(graph.streamRow(stage, t, row.wait[t] - 1));
            clock[t] = std::max(clock[t], row.wait[t]);
          }
        clock[s] = std::max(clock[s], done[s]);
      }
    }
  }
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
