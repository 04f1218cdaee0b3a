// Event-driven: a stream is tried again whenever a stream of its stage, or the other end of its transfer, has moved.
#include "passes/Schedule/Execution.h"

#include <algorithm>

namespace hocket::schedule {
namespace {

class Runner {
public:
  Runner(const RowGraph &graph, const Problem &problem, Semantics semantics)
      : graph(graph), problem(problem), semantics(semantics) {
    run.start.assign(graph.size(), never);
    run.end.assign(graph.size(), never);
    run.sequence.assign(graph.size(), noRow);
    run.done.assign(graph.streamRows.size(), 0);
    posted.assign(graph.streamRows.size(), false);
    queued.assign(graph.streamRows.size(), false);
  }

  Execution all() {
    for (uint32_t stage = 0; stage < graph.tables.stages.size(); ++stage)
      enqueueStage(stage);
    // Last in, first out keeps the working set small; the order does not change any time.
    while (!queue.empty()) {
      uint32_t key = queue.back();
      queue.pop_back();
      queued[key] = false;
      while (tryHead(key))
        ;
    }
    return std::move(run);
  }

private:
  void enqueueStage(uint32_t stage) {
    for (unsigned s = 0; s < graph.tables.stages[stage].streams.size(); ++s)
      enqueue(stage * maxStreams + s);
  }
  void enqueue(uint32_t key) {
    if (queued[key] || run.done[key] == graph.streamRows[key].size())
      return;
    queued[key] = true;
    queue.push_back(key);
  }

  /// When the row may start as far as its own stage is concerned; `never` when it may not yet.
  double readyAt(RowId id, uint32_t key) const {
    uint32_t stage = key / maxStreams, at = graph.position[id];
    const Row &row = graph.row(id);
    double ready = at ? run.end[graph.streamRows[key][at - 1]] : 0;
    for (unsigned s = 0; s < maxStreams; ++s) {
      if (!row.wait[s])
        continue;
      if (run.done[stage * maxStreams + s] < row.wait[s])
        return never;
      ready = std::max(ready, run.end[graph.streamRow(stage, s, row.wait[s] - 1)]);
    }
    if (RowId before = semantics.nccl ? graph.launchedBefore[id] : noRow; before != noRow) {
      if (run.sequence[before] == noRow)
        return never;
      ready = std::max(ready, run.end[before]);
    }
    return ready;
  }

  void finish(RowId id, uint32_t key, double start, double end) {
    run.start[id] = start;
    run.end[id] = end;
    run.sequence[id] = run.rowsRun++;
    run.makespan = std::max(run.makespan, end);
    ++run.done[key];
    posted[key] = false;
    enqueueStage(key / maxStreams);
  }

  /// Runs the first row of the stream that has not run, if it can run.
  bool tryHead(uint32_t key) {
    if (run.done[key] == graph.streamRows[key].size())
      return false;
    RowId id = graph.streamRows[key][run.done[key]];
    double ready = readyAt(id, key);
    if (ready == never)
      return false;
    const Row &row = graph.row(id);
    if (row.kind == RowKind::Body) {
      finish(id, key, ready, ready + problem.timesOf(graph.stageOf[id], bodyChunk(row)).of(bodyKind(row)));
      return true;
    }
    if (graph.partner[id] == noRow) {
      finish(id, key, ready, ready + communication(id));
      return true;
    }
    return semantics.rendezvous() ? meet(id, key, ready) : buffer(id, key, ready);
  }

  double communication(RowId id) const {
    return problem.timesOf(graph.tables.messages[graph.row(id).index].from).communication;
  }

  bool meet(RowId id, uint32_t key, double ready) {
    RowId other = graph.partner[id];
    uint32_t otherKey = graph.keyOf(other);
    posted[key] = true;
    run.start[id] = ready;
    if (otherKey == key || !posted[otherKey] || graph.streamRows[otherKey][run.done[otherKey]] != other)
      return false;
    double start = std::max(ready, run.start[other]);
    finish(id, key, start, start + communication(id));
    finish(other, otherKey, start, start + communication(id));
    return true;
  }

  bool buffer(RowId id, uint32_t key, double ready) {
    RowId other = graph.partner[id];
    if (graph.isSend(id)) {
      RowId behind = graph.bufferedBehind(id, semantics);
      if (behind != noRow && run.sequence[behind] == noRow)
        return false;
      double start = std::max(ready, behind == noRow ? 0 : run.end[behind]);
      finish(id, key, start, start + communication(id));
      enqueue(graph.keyOf(other));
      return true;
    }
    if (run.sequence[other] == noRow)
      return false;
    finish(id, key, std::max(ready, run.start[other]), std::max(ready, run.end[other]));
    // A send that waits for room on this edge stands on the partner's stage.
    enqueueStage(graph.stageOf[other]);
    return true;
  }

  const RowGraph &graph;
  const Problem &problem;
  Semantics semantics;
  Execution run;
  std::vector<bool> posted, queued; // by stream: its first row waits for its partner only; it is in the queue
  std::vector<uint32_t> queue;
};

} // namespace

Execution execute(const RowGraph &graph, const Problem &problem, Semantics semantics) {
  Execution run = Runner(graph, problem, semantics).all();
  for (RowId id = 0; id < graph.size(); ++id)
    if (run.sequence[id] == noRow)
      run.start[id] = run.end[id] = never;
  return run;
}

} // namespace hocket::schedule
