// The splits that `split megatron` stands for, found as dist-apply-plan finds them.
#include "tools/hocket/ExplicitPlan.h"
#include "passes/Dist/SlotShardings.h"
#include "passes/Dist/StepGraph.h"
#include "tools/hocket/Session.h"
#include <fmt/format.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

void hocket::tools::printExplicitTactics(Session &session, const Job &job) {
  dist::PlanOp chosen = job.choice.plan;
  auto tactics = llvm::to_vector(chosen.getBody().front().getOps<dist::SplitOp>());
  if (llvm::none_of(tactics, [](dist::SplitOp tactic) { return bool(tactic.getForm()); }))
    return;
  auto module = lower(session, job.choice, job.shape, Layer::NN);
  if (!module)
    return;
  // What is wrong with a split is told when it is applied.
  ScopedDiagnosticHandler silent(&session.context(), [](Diagnostic &) { return success(); });
  nn::TrainingStepOp step = *module->getOps<nn::TrainingStepOp>().begin();
  SymbolTable symbols(*module);
  auto plan = symbols.lookup<dist::PlanOp>(chosen.getSymName());
  auto graph = dist::StepGraph::create(step);
  if (!plan || failed(graph))
    return;
  dist::DimensionClasses classes(*graph);
  dist::SlotShardings shardings(step, plan, symbols.lookup<dist::MeshOp>(plan.getMesh()));
  for (Operation &each : plan.getBody().front()) {
    if (auto experts = dyn_cast<dist::ExpertsOp>(each))
      shardings.splitExperts(experts, classes);
    auto tactic = dyn_cast<dist::SplitOp>(each);
    if (!tactic)
      continue;
    size_t known = shardings.explicitSplits().size();
    if (!shardings.splitParameters(tactic, classes) || !tactic.getForm())
      continue;
    llvm::errs() << "its `split " << *tactic.getForm() << "` stands for:\n";
    for (const std::string &text : dist::explicitTactics(shardings.explicitSplits().drop_front(known)))
      llvm::errs() << "  " << text << '\n';
  }
}
