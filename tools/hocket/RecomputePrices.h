// What recompute saves and costs, unit by unit: found by lowering a plan with every unit made again in one way.
#pragma once
#include "dialect/Dist/Dist.h"
#include "tools/hocket/ActivationReport.h"
#include "tools/hocket/RecomputeKnapsack.h"
#include <map>

namespace hocket::tools {

/// A tactic for a unit: `recompute "h.3.attn" selective` is {".attn", Selective}.
struct UnitTactic {
  std::string below; ///< what follows the unit's name in the pattern
  dist::Recompute kind;
};
/// One way to treat a unit: its tactics (none: all is kept), and what they come to.
struct UnitOption {
  std::vector<UnitTactic> tactics;
  UnitChoice price;
  /// Workspace that the stage's backward needs beyond that of keeping all, while it makes such a unit again: of any
  /// number of them, for layers come one after another.
  int64_t extraBytes = 0;
};
struct RecomputeUnit {
  std::string name; ///< "h.3"
  std::vector<UnitOption> options;
};
struct StagePrices {
  uint32_t stage = 0, slots = 0;
  uint64_t peakBytes = 0; ///< with nothing made again
  std::vector<RecomputeUnit> units;
};

/// The patterns of what may be made again; none in one of them means all layers. `plan` is the job's, without them.
/// Empty after an error.
std::vector<StagePrices> recomputePrices(Session &session, Job &job,
                                         llvm::ArrayRef<std::optional<std::string>> patterns);

/// The planned peak of each stage's ranks; empty after an error.
std::map<uint32_t, uint64_t> plannedPeaks(Session &session, const Job &job);
void addTactic(Job &job, mlir::Location loc, const std::optional<std::string> &pattern, dist::Recompute kind);
} // namespace hocket::tools
