// Words for the cause of a collective.
#include "passes/Dist/Causes.h"
using namespace mlir;

namespace hocket::dist {
namespace {
std::string opText(Operation *op) {
  StringRef path = nn::getPath(op);
  return op->getName().stripDialect().str() + (path.empty() ? "" : " of " + path.str());
}
std::string tacticPart(Operation *tactic, const std::string &instead) {
  return (tactic ? tacticText(tactic) : instead) + ": ";
}
} // namespace

/// ZeRO's own transfers before `update`: gathers of what it splits at rest, and sums into accumulators that it splits.
std::optional<std::string> Causes::byZero(Value value, OpOperand &use, const ReshardStep &step) const {
  const StepGraph &graph = propagation.getGraph();
  nn::TrainingStepOp training = graph.step;
  auto zero = PlanOp(plan).tactic<ZeroOp>();
  Operation *user = use.getOwner();
  bool over = zero && llvm::any_of(step.axes, [&](Atom atom) {
                return overlaps(tacticAxes(zero), propagation.getAtoms().ref(atom));
              });
  if (!over)
    return std::nullopt;
  nn::SlotOp from = graph.slotOf(value.getDefiningOp()), to = graph.slotOf(user);
  if (user->getParentRegion() == &training.getBegin() && to && training.findSlot(nn::SlotKind::Param, to.getName()))
    return tacticText(zero) + ": all microbatches use " + to.getName().str();
  if (user->getParentRegion() != &training.getMicrobatch())
    return std::nullopt;
  if (from && from.getUse())
    return tacticText(zero) + ": " + opText(user) + " uses " + from.getName().str();
  for (Value operand : user->getOperands())
    if (nn::SlotOp sum = operand == value ? nn::SlotOp() : graph.slotOf(operand.getDefiningOp());
        sum && sum.getUse() && sum.getKind() == nn::SlotKind::Accumulator)
      return tacticText(zero) + ": the gradient of " + parameterOf(sum.getName()).str() + " is a sum over sequences";
  return std::nullopt;
}

std::string Causes::of(Value value, OpOperand &use, const ReshardStep &step) const {
  if (std::optional<std::string> cause = byZero(value, use, step))
    return *cause;
  bool joins = step.kind == ReshardKind::AllReduce || step.kind == ReshardKind::ReduceScatter;
  return joins ? joining(value, use, step) : moving(use, step);
}

/// The first tactic of the plan over one of these axes; in `update`, ZeRO before the batch; `sequence` before splits.
std::string Causes::tacticOverAxes(ArrayRef<Atom> atoms, bool inUpdate) const {
  bool batch = overBatch(atoms);
  Operation *found = nullptr;
  for (Operation &tactic : PlanOp(plan).getBody().front()) {
    bool over =
        llvm::any_of(atoms, [&](Atom atom) { return overlaps(tacticAxes(&tactic), propagation.getAtoms().ref(atom)); });
    if (over && (!found || (inUpdate ? isa<ZeroOp>(tactic) : !batch && isa<SequenceOp>(tactic))))
      found = &tactic;
  }
  return tacticPart(found, "sharding over " + plainAxes(propagation.getAtoms().toRefs(atoms)));
}

bool Causes::overBatch(ArrayRef<Atom> atoms) const {
  auto batch = PlanOp(plan).tactic<BatchOp>();
  return batch &&
         llvm::any_of(atoms, [&](Atom atom) { return overlaps(tacticAxes(batch), propagation.getAtoms().ref(atom)); });
}

std::string Causes::ofRing(Operation *attention, ArrayRef<AxisRef> refs) const {
  auto context = PlanOp(plan).tactic<ContextOp>();
  return tacticPart(context, "sharding over " + plainAxes(refs)) + opText(attention) + " sees the keys of all ranks";
}

std::string Causes::joining(Value value, OpOperand &use, const ReshardStep &step) const {
  const StepGraph &graph = propagation.getGraph();
  Operation *maker = value.getDefiningOp();
  if (nn::SlotOp slot = graph.slotOf(maker))
    return tacticOverAxes(step.axes, step.kind == ReshardKind::ReduceScatter) +
           (nn::TrainingStepOp(graph.step).findSlot(nn::SlotKind::Param, parameterOf(slot.getName()))
                ? "the gradient of "
                : "the ") +
           parameterOf(slot.getName()).str() + " is a sum over " + (overBatch(step.axes) ? "sequences" : "tokens");
  int index = graph.opIndex.lookup(maker);
  const StepOp &op = graph.ops[index];
  ArrayRef<int> term = op.rule.results[cast<OpResult>(value).getResultNumber()];
  // The value is partial over the factors that it does not have; a value that joined partial ones names what made
  // those.
  std::string factors, tactic;
  for (auto [factor, info] : llvm::enumerate(op.rule.factors)) {
    if (llvm::is_contained(term, static_cast<int>(factor)))
      continue;
    for (Atom atom : propagation.factor(index, static_cast<int>(factor)))
      if (llvm::is_contained(step.axes, atom)) {
        if (tactic.empty())
          tactic = tacticPart(origins.tacticOfFactor(index, static_cast<int>(factor), atom),
                              "sharding over " + plainAxes(propagation.getAtoms().toRefs(step.axes)));
        factors += (factors.empty() ? "" : " and ") + info.name + "=" + std::to_string(info.size);
        break;
      }
  }
  StringRef verb = op.rule.reduction == nn::ReductionKind::Sum ? " sums over " : " is an extreme over ";
  if (!factors.empty())
    return tactic + opText(maker) + verb.str() + factors;
  for (OpOperand &operand : maker->getOpOperands())
    if (op.rule.linearity[operand.getOperandNumber()] == nn::Linearity::Joint)
      return joining(operand.get(), use, step);
  return tacticOverAxes(step.axes, false) + opText(maker) + " is partial";
}

std::string Causes::moving(OpOperand &use, const ReshardStep &step) const {
  const StepGraph &graph = propagation.getGraph();
  Operation *user = use.getOwner();
  bool inUpdate = user->getParentRegion() == &nn::TrainingStepOp(graph.step).getUpdate();
  std::string tactic = tacticOverAxes(step.axes, inUpdate);
  auto routes = [](Operation *op) { return isa_and_nonnull<nn::DispatchOp, nn::CombineOp, nn::CombineGradOp>(op); };
  if (auto experts = PlanOp(plan).tactic<ExpertsOp>(); experts && (routes(user) || routes(use.get().getDefiningOp())))
    tactic = tacticPart(experts, "");
  std::string over = plainAxes(propagation.getAtoms().toRefs(step.axes));
  bool gathers = step.kind == ReshardKind::AllGather;
  if (nn::SlotOp slot = graph.slotOf(user))
    return tactic + nn::stringifySlotKind(slot.getKind()).str() + " " + slot.getName().str() + " at rest is " +
           (gathers ? "whole over " + over : "split otherwise");
  const StepOp &op = graph.ops[graph.opIndex.lookup(user)];
  int dim = step.kind == ReshardKind::AllToAll ? step.gatherDim : step.dim;
  return tactic + opText(user) + " needs " + op.rule.factors[op.rule.operands[use.getOperandNumber()][dim]].name +
         (gathers ? " whole" : " split otherwise");
}
} // namespace hocket::dist
