// The rules by which gathers are made again.
#include "passes/Dist/GatherPolicy.h"
using namespace mlir;

namespace hocket::dist {

/// The slot that `value` is read from, if microbatches use it gathered.
static nn::SlotOp gatheredSlot(const StepGraph &graph, Value value) {
  nn::SlotOp slot = graph.slotOf(value.getDefiningOp());
  return slot && slot.getUse() ? slot : nn::SlotOp();
}

bool GatherPolicy::isMadeAgain(Value value, ArrayRef<ReshardStep> steps) const {
  const StepGraph &graph = propagation.getGraph();
  bool gathers = llvm::all_of(steps, [](const ReshardStep &step) { return step.kind == ReshardKind::AllGather; });
  if (!gathers || value.getParentRegion() != &nn::TrainingStepOp(graph.step).getMicrobatch())
    return false;
  auto zero = PlanOp(plan).tactic<ZeroOp>();
  return zero && zero.getGather() == Gather::PerUse && gatheredSlot(graph, value);
}
} // namespace hocket::dist
