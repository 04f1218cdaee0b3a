// The choice by planned memory.
#include "tools/hocket/GatherChoice.h"
#include "dialect/Step/Step.h"
#include "tools/hocket/CudaKernels.h"
#include "tools/hocket/MemoryLimit.h"
#include <fmt/format.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

static dist::ZeroOp undecided(const Job &job) {
  auto zero = dist::PlanOp(job.choice.plan).tactic<dist::ZeroOp>();
  return zero && zero.splitsParameters() && !zero.getGather() ? zero : dist::ZeroOp();
}

bool hocket::tools::leavesGatherOpen(const Job &job) { return static_cast<bool>(undecided(job)); }

void hocket::tools::adoptGather(Job &job, ModuleOp lowered) {
  dist::ZeroOp zero = undecided(job);
  auto plan = SymbolTable(lowered).lookup<dist::PlanOp>(dist::PlanOp(job.choice.plan).getSymName());
  auto chosen = plan ? plan.tactic<dist::ZeroOp>() : dist::ZeroOp();
  if (zero && chosen && chosen.getGatherAttr())
    zero.setGatherAttr(chosen.getGatherAttr());
}

static uint64_t peakOf(ModuleOp lowered) {
  uint64_t peak = 0;
  for (auto program : lowered.getOps<step::ProgramOp>())
    peak = std::max(peak, program.getArenaBytes().value_or(0));
  return peak;
}

void hocket::tools::chooseGatherWithin(Session &session, Job &job, uint64_t limitBytes) {
  dist::ZeroOp zero = undecided(job);
  if (!zero)
    return;
  auto left = memoryForPlan(session, job, limitBytes);
  if (!left)
    return;
  limitBytes = *left;
  auto gatherBy = [&](dist::Gather way) { zero.setGatherAttr(dist::GatherAttr::get(zero.getContext(), way)); };
  std::string refused;
  std::optional<std::pair<uint64_t, dist::Gather>> least; // of what does not fit
  Trial quiet(session);
  for (auto way : {dist::Gather::OncePartial, dist::Gather::Once, dist::Gather::Kept, dist::Gather::PerUse}) {
    gatherBy(way);
    auto lowered = lower(session, job.choice, job.shape, Layer::Kernels);
    uint64_t peak = lowered ? peakOf(*lowered) : 0;
    if (peak <= limitBytes) {
      fmt::print(stderr, "zero 3 gathers {}, which sends least of what fits into {} bytes a rank{}\n",
                 dist::stringifyGather(way).str(), limitBytes, refused);
      return;
    }
    refused += fmt::format("; {} needs {} bytes a rank", dist::stringifyGather(way).str(), peak);
    if (!least || peak < least->first)
      least = {peak, way};
  }
  gatherBy(least->second);
  fmt::print(stderr, "zero 3 gathers {}, which needs least; nothing fits into {} bytes a rank{}\n",
             dist::stringifyGather(least->second).str(), limitBytes, refused);
}
