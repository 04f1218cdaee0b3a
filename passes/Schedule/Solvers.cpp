// The registry of schedules.
#include "passes/Schedule/Solvers.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::schedule {

const std::vector<Solver> &solvers() {
  static const std::vector<Solver> all = {
      {"gpipe", "all forwards, then all backwards; m microbatches in flight", orderGPipe},
      {"1f1b", "one forward, one backward; at most p microbatches in flight", orderOneFOneB},
      {"interleaved-1f1b", "1f1b over v chunks a stage: the bubble divided by v", orderInterleaved, Shape::Interleaved},
      {"zb-h1", "1f1b with the weight gradients in its bubble: a third of it is left", orderZbH1, Shape::OneChunk,
       true},
      {"zb-h2", "no bubble within a stage's span, for 2p-1 microbatches in flight", orderZbH2, Shape::OneChunk, true},
      {"zb-1p", "searched for the given times with the memory of 1f1b", orderZb1p, Shape::OneChunk, true},
      {"zb-2p", "searched for the given times with twice the memory of 1f1b", orderZb2p, Shape::OneChunk, true},
      {"zb-v", "two chunks as a V: no bubble within a stage's span, with the memory of 1f1b", orderZbV, Shape::V, true},
      {"v-half", "two chunks as a V with half the memory of 1f1b", orderVHalf, Shape::V, true},
      {"v-min", "two chunks as a V with a third of the memory of 1f1b", orderVMin, Shape::V, true},
      {"dualpipe-v", "two chunks as a V, forwards beside backwards; m >= 2p", orderDualPipeV, Shape::V, true, 1},
  };
  return all;
}

const Solver *findSolver(const std::string &name, Faults &faults) {
  std::vector<std::string> names;
  for (const Solver &solver : solvers()) {
    if (name == solver.name)
      return &solver;
    names.push_back(solver.name);
  }
  faults.push_back({fmt::format("unknown schedule '{}'; known: {}, file(\"TABLE\"){}", name, fmt::join(names, ", "),
                                didYouMean(name, names)),
                    {}});
  return nullptr;
}

std::vector<Place> placeV(uint32_t stages) {
  std::vector<Place> places;
  for (uint32_t k = 0; k < stages; ++k)
    places.push_back({k, 0});
  for (uint32_t k = 0; k < stages; ++k)
    places.push_back({stages - 1 - k, 1});
  return places;
}

bool adopt(const std::string &name, Problem &problem, Faults &faults, bool chunksGiven) {
  const Solver *solver = findSolver(name, faults);
  if (!solver)
    return false;
  problem.splitWeightGrad |= solver->splitsWeightGrad;
  const char *legal = nullptr;
  switch (solver->shape) {
  case Shape::OneChunk:
    legal = problem.chunks != 1 ? "1" : nullptr;
    break;
  case Shape::Interleaved:
    legal = problem.chunks < 2 ? "2 and more" : nullptr;
    break;
  case Shape::V:
    legal = problem.chunks > 2 || (chunksGiven && problem.chunks != 2) ? "2" : nullptr;
    break;
  }
  if (legal) {
    faults.push_back({fmt::format("{} with {} chunk{} a stage; legal: {}", name, problem.chunks,
                                  problem.chunks == 1 ? "" : "s", legal),
                      {}});
    return false;
  }
  if (solver->shape == Shape::V) {
    problem.chunks = 2;
    problem.placement = placeV(problem.stages);
  }
  // Activations and gradients of an interleaved order share the one edge between two stages: see README.md.
  bool sharedEdge = solver->shape == Shape::Interleaved && problem.stages == 2;
  problem.receiveAhead = std::max({problem.receiveAhead, solver->receiveAhead, sharedEdge ? 1u : 0});
  return true;
}

std::optional<Tables> solve(const std::string &name, const Problem &problem, Faults &faults) {
  const Solver *solver = findSolver(name, faults);
  if (!check(problem, faults) || !solver)
    return std::nullopt;
  if (problem.evaluate) {
    // A group comes back to a stage while that still runs its chunk before on the group: it waits in slots.
    Problem forwards = problem;
    if (problem.chunks > 1)
      forwards.receiveAhead = std::max(problem.receiveAhead, problem.stages);
    return assemble(forwards, orderForwardOnly(problem), faults);
  }
  std::optional<Orders> orders = solver->order(problem, faults);
  return orders ? assemble(problem, *orders, faults) : std::nullopt;
}

} // namespace hocket::schedule
