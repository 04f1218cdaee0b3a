// The named schedules. Each lies in a file of its own that opens with its timeline; each gives only the order of
// bodies.
#pragma once

#include "passes/Schedule/Assemble.h"

namespace hocket::schedule {

struct Solver {
  const char *name;    ///< as in the plan and on the command line
  const char *summary; ///< one line
  /// The order for a checked problem, or nothing and a fault when the schedule cannot carry the problem.
  std::optional<Orders> (*order)(const Problem &, Faults &);
};

/// All of them, in the order of the command line's documentation.
const std::vector<Solver> &solvers();

/// Null and a fault that lists the known names (and the nearest) when there is none of this name.
const Solver *findSolver(const std::string &name, Faults &faults);

/// Checks the problem, orders and assembles it. Under problem.evaluate every name gives the forward-only order.
std::optional<Tables> solve(const std::string &name, const Problem &problem, Faults &faults);

// GPipe.cpp, OneFOneB.cpp, ForwardOnly.cpp
std::optional<Orders> orderGPipe(const Problem &problem, Faults &faults);
std::optional<Orders> orderOneFOneB(const Problem &problem, Faults &faults);
Orders orderForwardOnly(const Problem &problem);

} // namespace hocket::schedule
