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

/// Microseconds of one processor that a rank's instructions take in a step: of the stream that computes (an await takes
/// what it takes to look), then of each stream of bodies, each in its order.
using ProcessorTimes = std::vector<std::vector<double>>;

/// Microseconds from the start of the step to the end of its last row. `work` is by rank. Rules:
///   a rank that computes wants as many cores as it has threads; where a host has fewer than its ranks want, each gets
///   the same share of what it wants
///   a collective begins when its last member has come, and then takes each member its own work
///   a stream of bodies wants one core; what is on it begins when the computing stream has come to it
///   a message is there when both ends have come; what it takes is work of no rank
/// Nothing where the step never ends. Linear in instructions of all ranks, times ranks.
std::optional<double> simulateMachine(const program::ProgramT &program, const Machine &machine,
                                      const std::vector<ProcessorTimes> &work);
} // namespace hocket::tools
