// Solves the program's schedule again, in units of time.
#include "tools/hocket/ProgramTimeline.h"
#include "passes/Schedule/Solvers.h"
using namespace hocket;
using namespace hocket::tools;

std::optional<ProgramTimeline> hocket::tools::timelineOf(const program::ProgramT &program) {
  schedule::Problem problem;
  problem.stages = program.ranks.size();
  problem.microbatches = program.microbatches;
  for (const auto &rank : program.ranks)
    for (const auto &body : rank->bodies)
      problem.chunks = std::max<uint32_t>(problem.chunks, body->chunk + 1);
  schedule::Faults faults;
  if (!schedule::adopt(program.schedule, problem, faults))
    return std::nullopt;
  for (schedule::Times &times : problem.times)
    times.backward = problem.splitWeightGrad ? 1 : 2;
  auto tables = schedule::solve(program.schedule, problem, faults);
  auto simulation = tables ? schedule::simulate(problem, *tables, {}, faults) : std::nullopt;
  if (!simulation)
    return std::nullopt;
  return ProgramTimeline{std::move(*tables), std::move(*simulation)};
}
