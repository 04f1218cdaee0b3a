// Finds an expert's parameter as the plan splits it, and counts ranks.
#include "tools/hocket/ExpertGroups.h"
#include "passes/Dist/AxisAtoms.h"
#include "passes/Dist/SlotShardings.h"
#include "tools/hocket/Lowering.h"
#include "tools/hocket/Session.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

namespace {
/// The axes of all tactics of one kind, each once.
template <typename... Tactics> dist::Atoms atomsOf(const dist::AxisAtoms &atoms, dist::PlanOp plan) {
  dist::Atoms list;
  for (Operation &tactic : plan.getBody().front())
    if (isa<Tactics...>(tactic))
      for (dist::Atom atom : atoms.fromRefs(dist::tacticAxes(&tactic)))
        if (!llvm::is_contained(list, atom))
          list.push_back(atom);
  return list;
}

/// The sharding of some expert's parameter once experts and splits are applied; null if there is none.
dist::ShardingAttr expertSharding(nn::TrainingStepOp step, dist::PlanOp plan, dist::MeshOp mesh) {
  auto graph = dist::StepGraph::create(step);
  if (failed(graph))
    return {};
  dist::DimensionClasses classes(*graph);
  dist::SlotShardings shardings(step, plan, mesh);
  for (Operation &tactic : plan.getBody().front()) {
    if (auto experts = dyn_cast<dist::ExpertsOp>(tactic))
      (void)shardings.splitExperts(experts, classes);
    if (auto split = dyn_cast<dist::SplitOp>(tactic))
      (void)shardings.splitParameters(split, classes);
  }
  shardings.write();
  dist::ShardingAttr widest; // where experts have several parameters, the one that is split most
  for (const dist::DimensionClass &info : classes.all())
    for (auto [slot, dim] : info.params) {
      auto sharding = dyn_cast_or_null<dist::ShardingAttr>(nn::SlotOp(slot).getShardingAttr());
      auto parts = [](dist::ShardingAttr each) {
        return llvm::count_if(each.getDims(), [](const dist::DimSharding &split) { return !split.axes.empty(); });
      };
      if (info.kind == dist::DimensionKind::Experts && sharding && (!widest || parts(sharding) > parts(widest)))
        widest = sharding;
    }
  return widest;
}
} // namespace

std::optional<ExpertReport> hocket::tools::expertGroups(Session &session, const Job &job) {
  auto tactic = dist::PlanOp(job.choice.plan).tactic<dist::ExpertsOp>();
  if (!tactic)
    return std::nullopt;
  auto module = lower(session, job.choice, job.shape, Layer::NN);
  if (!module)
    return std::nullopt;
  SymbolTable symbols(*module);
  auto plan = symbols.lookup<dist::PlanOp>(dist::PlanOp(job.choice.plan).getSymName());
  auto mesh = symbols.lookup<dist::MeshOp>(plan.getMesh());
  dist::ShardingAttr sharding = expertSharding(*module->getOps<nn::TrainingStepOp>().begin(), plan, mesh);
  if (!sharding)
    return std::nullopt;
  SmallVector<dist::AxisRef> refs;
  for (Operation &each : plan.getBody().front())
    llvm::append_range(refs, dist::tacticAxes(&each));
  dist::collectRefs(sharding, refs);
  auto atoms = dist::AxisAtoms::create(mesh, refs, plan);
  if (failed(atoms))
    return std::nullopt;
  dist::Atoms experts = atomsOf<dist::ExpertsOp>(*atoms, plan), data = atomsOf<dist::BatchOp>(*atoms, plan);
  dist::Atoms each; // what splits one expert
  for (const dist::Atoms &dim : atoms->dimsOf(sharding))
    llvm::copy_if(dim, std::back_inserter(each), [&](dist::Atom atom) { return !llvm::is_contained(experts, atom); });
  llvm::erase_if(data,
                 [&](dist::Atom atom) { return llvm::is_contained(experts, atom) || llvm::is_contained(each, atom); });
  ExpertReport report;
  report.axes = dist::plainAxes(dist::tacticAxes(tactic));
  report.world = mesh.getWorldSize();
  report.tp = atoms->size(atomsOf<dist::SplitOp, dist::SequenceOp>(*atoms, plan));
  report.pp = atoms->size(atomsOf<dist::StagesOp>(*atoms, plan));
  report.cp = atoms->size(atomsOf<dist::ContextOp>(*atoms, plan));
  report.dp = atoms->size(atomsOf<dist::BatchOp>(*atoms, plan));
  report.etp = atoms->size(each), report.ep = atoms->size(experts), report.edp = atoms->size(data);
  report.rest = report.world / (report.tp * report.pp * report.cp * report.dp);
  report.copies = report.world / (report.etp * report.ep * report.pp * report.edp);
  return report;
}
