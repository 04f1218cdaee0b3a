// The steps that the outputs of a graph need, and in which loop over a row each of them runs.
#pragma once
#include "passes/Codegen/Graph/Graph.h"
#include <map>
#include <set>

namespace hocket::codegen {

struct NeededSteps {
  explicit NeededSteps(const Graph &graph);

  std::vector<Step *> all, sums;                 ///< in order of definition
  std::map<int, std::vector<Step *>> reductions; ///< by the loop over the row that they run in
  int lastStage = 0;                             ///< of the loops over a row
  /// Numbers an element that an earlier loop over a row computes or loads and a later one reads again; at least 1.
  int64_t keptNumbers() const;

private:
  void add(Step *step);

  std::vector<Step *> written; ///< Full outputs
  std::set<Step *> seen;
};
} // namespace hocket::codegen
