// The registry of schedules.
#include "passes/Schedule/Solvers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::schedule {

const std::vector<Solver> &solvers() {
  static const std::vector<Solver> all = {
      {"gpipe", "all forwards, then all backwards; m microbatches in flight", orderGPipe},
      {"1f1b", "one forward, one backward; at most p microbatches in flight", orderOneFOneB},
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
  faults.push_back(
      {fmt::format("unknown schedule '{}'; known: {}{}", name, fmt::join(names, ", "), didYouMean(name, names)), {}});
  return nullptr;
}

std::optional<Tables> solve(const std::string &name, const Problem &problem, Faults &faults) {
  const Solver *solver = findSolver(name, faults);
  if (!check(problem, faults) || !solver)
    return std::nullopt;
  std::optional<Orders> orders = problem.evaluate ? orderForwardOnly(problem) : solver->order(problem, faults);
  if (!orders)
    return std::nullopt;
  return assemble(problem, *orders, faults);
}

} // namespace hocket::schedule
