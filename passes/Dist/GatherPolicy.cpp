// The rules by which gathers are made again.
#include "passes/Dist/GatherPolicy.h"
#include "passes/Dist/Tactics.h"
using namespace mlir;

namespace hocket::dist {

bool GatherPolicy::gathersTokens(ArrayRef<ReshardStep> steps) const {
  Atoms tokens;
  for (Operation &tactic : PlanOp(plan).getBody().front()) {
    auto sequence = dyn_cast<SequenceOp>(tactic);
    if (isa<ContextOp>(tactic) || (sequence && !sequence.getKeepGathered()))
      tokens.append(propagation.getAtoms().fromRefs(tacticAxes(&tactic)));
  }
  return llvm::all_of(steps, [&](const ReshardStep &step) {
    return llvm::all_of(step.axes, [&](Atom atom) { return llvm::is_contained(tokens, atom); });
  });
}

bool GatherPolicy::isMadeAgain(Value value, ArrayRef<ReshardStep> steps) const {
  const StepGraph &graph = propagation.getGraph();
  auto only = [&](ReshardKind kind) { return llvm::all_of(steps, [&](auto &step) { return step.kind == kind; }); };
  nn::SlotOp slot = graph.slotOf(value.getDefiningOp());
  if (value.getParentRegion() != &nn::TrainingStepOp(graph.step).getMicrobatch())
    return false;
  if (only(ReshardKind::Slice)) // of what lies there anyway
    return slot != nullptr;
  if (!only(ReshardKind::AllGather))
    return false;
  auto zero = PlanOp(plan).tactic<ZeroOp>();
  if (slot && slot.getUse())
    return zero && zero.getGather() == Gather::PerUse;
  return (!slot || slot.getKind() == nn::SlotKind::Input) && gathersTokens(steps);
}
} // namespace hocket::dist
