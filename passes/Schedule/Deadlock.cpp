// Breadth-first search from every stream that stands, over what its first waiting row waits for.
#include "passes/Schedule/Deadlock.h"

#include <algorithm>
#include <fmt/format.h>

namespace hocket::schedule {
namespace {

/// `head`, the first row of its stream that never ran, waits for `target`, which is that or a later row of stream
/// `key`.
struct WaitsFor {
  RowId head, target;
  uint32_t key;
  bool byLaunch = false; ///< only because `target` is launched before on the same communicator
};

class StuckStreams {
public:
  StuckStreams(const RowGraph &graph, const Execution &execution, Semantics semantics)
      : graph(graph), execution(execution), semantics(semantics) {
    for (uint32_t key = 0; key < graph.streamRows.size(); ++key)
      if (stuck(key))
        keys.push_back(key);
  }

  std::vector<WaitsFor> shortestCycle() const {
    std::vector<WaitsFor> best;
    for (uint32_t key : keys) {
      std::vector<WaitsFor> cycle = cycleThrough(key, best.empty() ? ~size_t(0) : best.size());
      if (!cycle.empty() && (best.empty() || cycle.size() < best.size()))
        best = std::move(cycle);
    }
    return best;
  }

private:
  bool stuck(uint32_t key) const { return execution.done[key] < graph.streamRows[key].size(); }
  RowId head(uint32_t key) const { return graph.streamRows[key][execution.done[key]]; }

  std::vector<WaitsFor> waitsOf(uint32_t key) const {
    std::vector<WaitsFor> waits;
    RowId id = head(key);
    uint32_t stage = graph.stageOf[id];
    for (unsigned s = 0; s < maxStreams; ++s)
      if (execution.done[stage * maxStreams + s] < graph.row(id).wait[s])
        waits.push_back({id, graph.streamRow(stage, s, graph.row(id).wait[s] - 1), stage * maxStreams + s});
    if (RowId before = semantics.nccl ? graph.launchedBefore[id] : noRow;
        before != noRow && execution.sequence[before] == noRow)
      waits.push_back({id, before, graph.keyOf(before), true});
    if (!waits.empty() || graph.partner[id] == noRow)
      return waits; // not ready itself: it is not yet at its partner's disposal
    RowId other = graph.partner[id];
    if (!semantics.rendezvous() && graph.isSend(id))
      other = graph.bufferedBehind(id, semantics);
    if (other != noRow && execution.sequence[other] == noRow)
      waits.push_back({id, other, graph.keyOf(other)});
    return waits;
  }

  /// The shortest way from a stream back to itself, if it has less than `limit` edges.
  std::vector<WaitsFor> cycleThrough(uint32_t start, size_t limit) const {
    std::vector<std::pair<WaitsFor, size_t>> reached; // with the index of the edge before it
    std::vector<bool> seen(graph.streamRows.size(), false);
    auto expand = [&](uint32_t key, size_t from) {
      for (const WaitsFor &wait : waitsOf(key))
        if (!seen[wait.key]) {
          seen[wait.key] = true;
          reached.push_back({wait, from});
        }
    };
    expand(start, ~size_t(0));
    for (size_t i = 0; i < reached.size(); ++i) {
      if (reached[i].first.key != start) {
        expand(reached[i].first.key, i);
        continue;
      }
      std::vector<WaitsFor> cycle;
      for (size_t at = i; at != ~size_t(0); at = reached[at].second)
        cycle.push_back(reached[at].first);
      std::reverse(cycle.begin(), cycle.end());
      return cycle.size() < limit ? cycle : std::vector<WaitsFor>();
    }
    return {};
  }

public:
  std::string say(const WaitsFor &wait) const {
    RowId id = wait.head, front = head(wait.key);
    uint32_t stage = graph.stageOf[id], other = graph.stageOf[wait.target];
    uint32_t at = graph.position[id];
    double since = at ? execution.end[graph.streamRows[graph.keyOf(id)][at - 1]] : 0;
    std::string text =
        fmt::format("stage {}, time {}: {} waits for ", stage, since, describe(graph.tables, graph.row(id)));
    text += other == stage ? std::string("the ") : fmt::format("stage {}'s ", other);
    text += describe(graph.tables, graph.row(wait.target));
    if (front != wait.target)
      text += fmt::format(", which stands behind the {}", describe(graph.tables, graph.row(front)));
    if (wait.byLaunch)
      text += fmt::format(", launched before it on {}", sayCommunicator(graph, graph.row(id).index));
    return text;
  }

private:
  const RowGraph &graph;
  const Execution &execution;
  Semantics semantics;
  std::vector<uint32_t> keys;
};

} // namespace

std::string sayCommunicator(const RowGraph &graph, uint32_t message) {
  const Tables &tables = graph.tables;
  if (!tables.communicators.empty())
    return fmt::format("communicator {}", tables.communicatorNames[tables.communicators[message]]);
  return fmt::format("the communicator of edge {} -> {}", tables.messages[message].from, tables.messages[message].to);
}

std::optional<Fault> findDeadlock(const RowGraph &graph, const Execution &execution, Semantics semantics,
                                  std::vector<RowId> *byOwnWaits) {
  if (execution.finished())
    return std::nullopt;
  StuckStreams streams(graph, execution, semantics);
  std::vector<WaitsFor> cycle = streams.shortestCycle();
  Fault fault{fmt::format("deadlock with {} sends: {} rows wait for each other, {} of {} rows never run after time {}",
                          name(semantics), cycle.size(), graph.size() - execution.rowsRun, graph.size(),
                          execution.makespan),
              {},
              {},
              /*ofOrder=*/true};
  for (const WaitsFor &wait : cycle) {
    fault.notes.push_back(streams.say(wait));
    fault.pieces.push_back({graph.stageOf[wait.head], chunkOf(graph.tables, graph.row(wait.head))});
    if (byOwnWaits && !wait.byLaunch && graph.stageOf[wait.head] == graph.stageOf[wait.target])
      byOwnWaits->push_back(wait.head);
  }
  return fault;
}

} // namespace hocket::schedule
