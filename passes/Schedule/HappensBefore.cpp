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
  auto head = [&](unsigned s) {
    const std::vector<RowId> &rows = graph.streamRows[stage * maxStreams + s];
    return done[s] < rows.size() ? rows[done[s]] : noRow;
  };
  auto ready = [&](RowId id) {
    for (unsigned t = 0; t < maxStreams; ++t)
      if (graph.row(id).wait[t] > done[t])
        return false;
    return true;
  };
  auto advance = [&](unsigned s) {
    RowId id = head(s);
    Clock &clock = clocks[id - first];
    auto join = [&](unsigned stream, uint32_t count) {
      if (!count)
        return;
      const Clock &other = clocks[graph.streamRow(stage, stream, count - 1) - first];
      for (unsigned t = 0; t < maxStreams; ++t)
        clock[t] = std::max(clock[t], other[t]);
      clock[stream] = std::max(clock[stream], count);
    };
    join(s, done[s]);
    for (unsigned t = 0; t < maxStreams; ++t)
      join(t, std::min(graph.row(id).wait[t], done[t]));
    ++done[s];
  };
  // Streams advance in turn as far as their waits allow; messages do not hold them up. Of rows in a circle of waits
  // (the deadlock is reported) the first of the table waits no longer.
  for (RowId stuck = 0; stuck != noRow;) {
    for (bool moved = true; moved;) {
      moved = false;
      for (unsigned s = 0; s < maxStreams; ++s)
        for (; head(s) != noRow && ready(head(s)); moved = true)
          advance(s);
    }
    stuck = noRow;
    for (unsigned s = 0; s < maxStreams; ++s)
      stuck = std::min(stuck, head(s));
    if (stuck != noRow)
      advance(graph.row(stuck).stream);
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
