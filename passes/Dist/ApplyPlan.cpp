// From tactics to the shardings of slots (pass dist-apply-plan).
#include "passes/Dist/AutoSplit.h"
#include "passes/Dist/OffloadTactics.h"
#include "passes/Dist/Passes.h"
#include "passes/Dist/Propagation.h"
#include "passes/Dist/SlotShardings.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::dist {
#define GEN_PASS_DEF_APPLYPLANPASS
#include "passes/Dist/Passes.h.inc"

namespace {
struct ApplyPlanPass : impl::ApplyPlanPassBase<ApplyPlanPass> {
  using ApplyPlanPassBase::ApplyPlanPassBase;

  void runOnOperation() override {
    if (failed(forEachPlannedStep(getOperation(),
                                  [this](auto step, PlanOp plan, MeshOp mesh) { return apply(step, plan, mesh); })))
      signalPassFailure();
  }

  LogicalResult apply(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh) {
    FailureOr<StepGraph> graph = StepGraph::create(step);
    if (failed(graph))
      return failure();
    DimensionClasses classes(*graph);
    SlotShardings shardings(step, plan, mesh);
    bool sound = checkSequenceLengths(step, plan, mesh);
    sound &= checkOffload(step, plan);
    for (Operation &tactic : llvm::make_early_inc_range(plan.getBody().front())) {
      if (auto split = dyn_cast<SplitOp>(tactic); split && split.getForm() == StringRef("auto")) {
        sound &= succeeded(splitAutomatically(step, plan, mesh, classes, split, shardings));
        continue;
      }
      if (auto batch = dyn_cast<BatchOp>(tactic))
        sound &= shardings.splitBatch(batch);
      if (auto context = dyn_cast<ContextOp>(tactic))
        sound &= shardings.splitContext(context);
      if (auto experts = dyn_cast<ExpertsOp>(tactic))
        sound &= shardings.splitExperts(experts, classes);
      if (auto split = dyn_cast<SplitOp>(tactic)) {
        size_t known = shardings.explicitSplits().size();
        sound &= shardings.splitParameters(split, classes);
        if (print && split.getForm())
          split.emitRemark() << "stands for: "
                             << llvm::join(explicitTactics(shardings.explicitSplits().drop_front(known)), "; ");
      }
    }
    if (!sound)
      return failure();
    shardings.write();
    FailureOr<Propagation> settled = settleParameters(*graph, mesh);
    if (failed(settled))
      return failure();
    shardState(step, plan, mesh, wholeBelow);
    waitForTokens(*settled, plan);
    return success();
  }

  LogicalResult splitAutomatically(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, const DimensionClasses &classes,
                                   SplitOp tactic, SlotShardings &shardings) {
    AutoSplit found = findAutoSplit(step, plan, mesh, classes, tactic, shardings.splitOver(tactic.getAxes().getRefs()),
                                    {machine == "gpu" ? Machine::gpu() : Machine::cpu(), wholeBelow});
    Location loc = tactic.getLoc();
    FailureOr<SmallVector<SplitOp>> written = writeAutoSplit(step, mesh, found, tactic);
    if (failed(written))
      return failure();
    bool sound = true;
    SmallVector<std::string> texts;
    for (SplitOp split : *written) {
      sound &= shardings.splitParameters(split, classes);
      texts.push_back(splitText(*split.getPattern(), static_cast<int64_t>(*split.getDim()), split.getAxes().getRefs()));
    }
    if (print)
      emitRemark(loc) << "`split auto` stands for: " << (texts.empty() ? "nothing" : llvm::join(texts, "; "));
    return success(sound);
  }

  /// Parameters that no tactic names follow those that one does: the bias of a column-parallel linear is split as its
  /// output.
  FailureOr<Propagation> settleParameters(const StepGraph &graph, MeshOp mesh) {
    FailureOr<Propagation> propagation = Propagation::run(graph, mesh);
    if (failed(propagation))
      return failure();
    for (auto &[op, node] : graph.slots) {
      auto slot = cast<nn::SlotOp>(op);
      if (!slot.getShardingAttr())
        slot.setShardingAttr(propagation->toSharding(propagation->atRest(slot)));
    }
    return propagation;
  }
};
} // namespace
} // namespace hocket::dist
