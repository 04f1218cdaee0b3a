// See ChooseWithin.h.
#include "tools/hocket/ChooseWithin.h"
#include "tools/hocket/GatherChoice.h"
#include "tools/hocket/RecomputeChoice.h"
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::tools;

bool hocket::tools::leavesChoice(const Job &job) {
  dist::PlanOp plan = job.choice.plan;
  return leavesGatherOpen(job) || llvm::any_of(plan.getBody().front().getOps<dist::RecomputeOp>(),
                                               [](auto tactic) { return tactic.getKind() == dist::Recompute::Auto; });
}

bool hocket::tools::chooseWithin(Session &session, Job &job, std::optional<uint64_t> limitBytes, bool judges) {
  if (!limitBytes)
    return true;
  if (!judges && !leavesChoice(job)) {
    session.error(fmt::format("--memory {} has no effect: plan '{}' has no `recompute auto`, and no zero 3 that leaves "
                              "open when it gathers",
                              *limitBytes, dist::PlanOp(job.choice.plan).getSymName().str()));
    return false;
  }
  unsigned before = session.errors();
  if (chooseRecompute(session, job, limitBytes))
    chooseGatherWithin(session, job, *limitBytes);
  return session.errors() == before;
}
