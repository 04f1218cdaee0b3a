// How many communication kernels a device has to hold at a time, and whether it can do with fewer.
#include "passes/Schedule/Deadlock.h"
#include "passes/Schedule/Judge.h"

#include <fmt/format.h>
#include <set>

namespace hocket::schedule {
namespace {

/// Kernels of a stage that can be at work together: no two of one stream, no two of one communicator.
uint32_t mostResident(const RowGraph &graph, uint32_t stage) {
  std::set<uint32_t> streams, communicators;
  for (RowId id = graph.firstOfStage[stage]; id < graph.firstOfStage[stage + 1]; ++id)
    if (graph.row(id).kind != RowKind::Body) {
      streams.insert(graph.row(id).stream);
      communicators.insert(graph.communicatorOf[graph.row(id).index]);
    }
  return uint32_t(std::min(streams.size(), communicators.size()));
}

Tables rowsThatRan(const RowGraph &graph, const Execution &execution) {
  Tables tables = graph.tables;
  for (Table &table : tables.stages)
    table.rows.clear();
  for (RowId id = 0; id < graph.size(); ++id)
    if (execution.sequence[id] != noRow)
      tables.stages[graph.stageOf[id]].rows.push_back(graph.row(id));
  return tables;
}

} // namespace

void checkResident(const Problem &problem, const RowGraph &graph, const Execution &execution, Semantics semantics,
                   Faults &faults) {
  if (!semantics.nccl)
    return;
  for (uint32_t s = 0; s < graph.tables.stages.size(); ++s) {
    uint32_t most = mostResident(graph, s);
    if (most <= semantics.resident)
      continue;
    Tables ran = rowsThatRan(graph, execution);
    RowGraph inLaunchOrder(ran, /*oneCommunicator=*/true);
    std::optional<Fault> circle =
        findDeadlock(inLaunchOrder, execute(inLaunchOrder, problem, {.nccl = true}), {.nccl = true});
    if (!circle)
      return;
    circle->text = fmt::format(
        "stage {} can have {} communication kernels at work at a time, {} {} stated; fewer are taken in the "
        "order of launch, and over all communicators and ranks that order is a circle of {} rows",
        s, most, semantics.resident, semantics.resident == 1 ? "is" : "are", circle->notes.size());
    faults.push_back(*circle); // of order, as a deadlock is
    return;
  }
}

} // namespace hocket::schedule
