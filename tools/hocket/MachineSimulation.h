// A step of all ranks on the machine they ran on: ranks share its cores. Where there are more ranks than cores a wall
// clock says more about the other ranks than about a kernel; what a kernel takes of a processor does not, and from that
// this simulation makes wall-clock time again.
#pragma once
#include "runtime/Program/program_generated.h"
#include <optional>
#include <vector>

namespace hocket::tools {

struct Machine {
  std::vector<uint32_t> hostOf; ///< by rank
  std::vector<double> coresOf;  ///< by host
  uint32_t cores() const;       ///< of all hosts
};

/// Microseconds from the start of the step to the end of its last row. `work`: by rank, and by the order in which its
/// compute stream runs instructions in a step, microseconds of one processor. Rules:
///   a rank that computes wants as many cores as it has threads; where a host has fewer than its ranks want, each gets
///   the same share of what it wants
///   a collective begins when its last member has come, and then takes each member its own work
///   a message is there when both ends have come; what it takes is work of no rank
/// Nothing where the step never ends. Linear in instructions of all ranks, times ranks.
std::optional<double> simulateMachine(const program::ProgramT &program, const Machine &machine,
                                      const std::vector<std::vector<double>> &work);
} // namespace hocket::tools
