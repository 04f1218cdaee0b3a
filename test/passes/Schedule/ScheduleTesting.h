// What the tests of schedules share: faults as text, and a schedule that must exist.
#pragma once

#include "passes/Schedule/Judge.h"
#include "passes/Schedule/Solvers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hocket::schedule {

inline std::string text(const Faults &faults) {
  std::string all;
  for (const Fault &fault : faults) {
    all += fault.text + "\n";
    for (const std::string &note : fault.notes)
      all += "  " + note + "\n";
  }
  return all;
}

inline Problem problemOf(uint32_t stages, uint32_t microbatches) {
  Problem problem;
  problem.stages = stages;
  problem.microbatches = microbatches;
  return problem;
}

/// The problem as the schedule wants it; a failed test where it does not.
inline Problem adopted(const std::string &name, Problem problem) {
  Faults faults;
  EXPECT_TRUE(adopt(name, problem, faults)) << text(faults);
  return problem;
}

/// Empty tables, and a failed test, where the solver refuses.
inline Tables solved(const std::string &name, const Problem &problem) {
  Faults faults;
  std::optional<Tables> tables = solve(name, problem, faults);
  EXPECT_TRUE(tables.has_value()) << text(faults);
  return tables.value_or(Tables());
}

/// What the solver says where it refuses; a failed test where it does not.
inline std::string refused(const std::string &name, Problem problem) {
  Faults faults;
  EXPECT_FALSE(adopt(name, problem, faults) && solve(name, problem, faults).has_value());
  return text(faults);
}

} // namespace hocket::schedule
