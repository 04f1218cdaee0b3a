// What a run's trace (hocket-run --trace) says about a program: how long each body takes by its instructions, how long
// a message, and when each rank computed and when it stood.
#pragma once
#include "tools/hocket/MachineSimulation.h"
#include "tools/hocket/ProgramTables.h"
#include <nlohmann/json.hpp>
#include <optional>

namespace hocket::tools {

struct TraceTimes {
  /// By stage * chunks + chunk, in microseconds. A kernel's time is its mean over steps, microbatches and ranks; a
  /// collective's that of the rank which came last, so that waiting is not counted; a message's the shortest seen. The
  /// first step is left out where there are others.
  std::vector<schedule::Times> times;
  struct Rank {
    uint32_t rank = 0, stage = 0;
    /// Microseconds of a step, mean over steps: at work, in collectives beyond what they take, and idle by
    /// schedule::IdleCause.
    double busy = 0, inCollectives = 0;
    std::array<double, 5> idle{};
  };
  std::vector<Rank> ranks;
  Machine machine; ///< that the ranks ran on
  double onMachineMicroseconds =
      0;                       ///< a step by simulateMachine, from the mean of what instructions take of a processor
  double stepMicroseconds = 0; ///< mean over steps, from the first start of any rank to the last end
  size_t steps = 0;
};

/// Reads a trace of this program. A sentence where it is none, or of another program.
std::optional<TraceTimes> readTrace(const program::ProgramT &program, const ProgramTables &tables,
                                    const std::string &path, std::string &fault);
} // namespace hocket::tools
