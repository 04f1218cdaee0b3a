// The schedule of a program in time, a whole backward taken as twice a forward.
#pragma once
#include "passes/Schedule/Simulator.h"
#include "runtime/Program/program_generated.h"

namespace hocket::tools {
struct ProgramTimeline {
  schedule::Tables tables;
  schedule::Simulation simulation;
};
/// Nothing for a schedule that is not known by name.
std::optional<ProgramTimeline> timelineOf(const program::ProgramT &program);
} // namespace hocket::tools
