// The schedule of a program file as tables again, so that what is drawn is what will run.
#pragma once
#include "passes/Schedule/Problem.h"
#include "passes/Schedule/Simulator.h"
#include "runtime/Program/program_generated.h"

namespace hocket::tools {
struct ProgramTables {
  schedule::Problem problem; ///< sizes and whether the backward is split; placement is not needed to simulate
  schedule::Tables tables;
};
/// Of the entry "train".
ProgramTables tablesOf(const program::ProgramT &program);
/// A forward taken as one unit, a whole backward as two.
schedule::Times unitTimes(const schedule::Problem &problem);
/// The step in these times. Nothing for tables that never end.
std::optional<schedule::Simulation> simulateUnits(ProgramTables step);
/// The entry "train" of one stage.
const program::EntryT &trainingOf(const program::RankProgramT &rank);
} // namespace hocket::tools
