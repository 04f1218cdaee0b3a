// Times of one set of tables, and what follows from them.
#include "passes/Schedule/Simulator.h"

#include "passes/Schedule/Deadlock.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace hocket::schedule {

static uint32_t mostInFlight(const Tables &tables, const Table &table, const std::vector<double> &start,
                             const std::vector<double> &end) {
  // What one (chunk, microbatch) holds is the hull of its rows' times.
  std::map<std::pair<uint32_t, uint32_t>, std::pair<double, double>> uses; // (chunk, microbatch) -> hull
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const Row &row = table.rows[i];
    if (row.kind == RowKind::Body && oncePerStep(bodyKind(row)))
      continue;
    auto [use, isNew] = uses.try_emplace({chunkOf(tables, row), row.microbatch}, start[i], end[i]);
    use->second = {std::min(use->second.first, start[i]), std::max(use->second.second, end[i])};
  }
  std::vector<std::pair<double, int>> changes; // at equal times the end comes first
  for (const auto &[key, use] : uses) {
    changes.push_back({use.first, 1});
    changes.push_back({use.second, -1});
  }
  std::sort(changes.begin(), changes.end());
  int now = 0, most = 0;
  for (const auto &[time, change] : changes)
    most = std::max(most, now += change);
  return uint32_t(most);
}

static void addStage(Simulation &simulation, const Tables &tables, const Table &table, std::vector<double> start,
                     std::vector<double> end) {
  double busy = 0, first = -1, last = 0;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].kind != RowKind::Body || oncePerStep(bodyKind(table.rows[i])))
      continue;
    busy += end[i] - start[i];
    first = first < 0 ? start[i] : std::min(first, start[i]);
    last = std::max(last, end[i]);
  }
  simulation.busy += busy;
  simulation.busyOfStage.push_back(busy);
  simulation.spanOfStage.push_back(last - std::max(first, 0.0));
  simulation.stageSpan = std::max(simulation.stageSpan, simulation.spanOfStage.back());
  simulation.inFlightOfStage.push_back(mostInFlight(tables, table, start, end));
  simulation.start.push_back(std::move(start));
  simulation.end.push_back(std::move(end));
}

std::optional<Simulation> simulate(const Problem &problem, const Tables &tables, Semantics semantics, Faults &faults) {
  RowGraph graph(tables);
  Execution execution = execute(graph, problem, semantics);
  if (std::optional<Fault> deadlock = findDeadlock(graph, execution, semantics)) {
    faults.push_back(*deadlock);
    return std::nullopt;
  }
  Simulation simulation;
  simulation.makespan = execution.makespan;
  for (uint32_t s = 0; s < tables.stages.size(); ++s) {
    auto part = [&](const std::vector<double> &times) {
      return std::vector<double>(times.begin() + graph.firstOfStage[s], times.begin() + graph.firstOfStage[s + 1]);
    };
    addStage(simulation, tables, tables.stages[s], part(execution.start), part(execution.end));
  }
  return simulation;
}

std::string summary(const Simulation &simulation) {
  return fmt::format(
      "makespan {}, bubble {:.4f} of total, {:.4f} of ideal; longest stage span {}, bubble {:.4f} of total, "
      "{:.4f} of ideal; in flight {}",
      simulation.makespan, simulation.bubbleOfTotal(), simulation.bubbleOfIdeal(), simulation.stageSpan,
      simulation.spanBubbleOfTotal(), simulation.spanBubbleOfIdeal(), fmt::join(simulation.inFlightOfStage, " "));
}

} // namespace hocket::schedule
