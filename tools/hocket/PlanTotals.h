// What a plan costs in a step, as numbers that two plans can be compared by: counted from the program, like the report.
#pragma once
#include "tools/hocket/Report.h"

namespace hocket::tools {

struct PlanTotals {
  std::string plan, mesh, schedule;
  std::vector<std::string> tactics;
  uint64_t ranks = 0, stages = 0, microbatches = 0;
  /// (axes, op) to bytes sent in a step: by all ranks together; by the rank that sends most in all.
  std::map<std::pair<std::string, std::string>, uint64_t> sentByAll, sentMost;
  /// Idle time over the time of all stages from the first start to the last end, and over what they work; 0 without
  /// stages.
  double bubbleOfTotal = 0, bubbleOfIdeal = 0;
  uint64_t peakBytes = 0;                       ///< of the rank that needs most
  std::map<std::string, uint64_t> bytesByClass; ///< of that rank
  uint64_t hostBytes = 0;                       ///< of the rank that needs most of the host's, for what is offloaded
  std::map<std::string, uint64_t> hostBytesByClass; ///< of that rank
  /// Distinct kernels; runs of kernels and products in a step, and operations, on the rank that has most of these.
  uint64_t kernels = 0, launches = 0, products = 0, flops = 0;
  uint64_t flopsOfAll = 0;

  struct Collective {
    uint64_t count = 0, bytes = 0; ///< in a step, on one rank of each stage that does it; of whole values
    std::string cause;             ///< the first one
  };
  /// By "phase op over axes of path", layers of one form as one.
  std::map<std::string, Collective> collectives;
};

PlanTotals totalsOf(const program::ProgramT &program, const Report &report);
} // namespace hocket::tools
