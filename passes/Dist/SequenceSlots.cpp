// Sequences of inputs: their lengths, and how `context` splits and orders them.
#include "passes/Dist/SequenceDimensions.h"
#include "passes/Dist/SlotShardings.h"
#include <numeric>
using namespace mlir;

namespace hocket::dist {

bool checkSequenceLengths(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh) {
  auto context = plan.tactic<ContextOp>();
  auto sequence = plan.tactic<SequenceOp>();
  int64_t cp = context ? axesSize(mesh, context.getAxes().getRefs()) : 1;
  int64_t tp = sequence ? axesSize(mesh, sequence.getAxes().getRefs()) : 1;
  int64_t needed = cp * std::lcm(cp > 1 ? int64_t(2) : int64_t(1), tp);
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>()) {
    int dim = tokensDimension(slot);
    int64_t length = dim < 0 ? 0 : cast<RankedTensorType>(slot.getType()).getDimSize(dim);
    if (length % needed == 0)
      continue;
    Operation *tactic = cp > 1 ? context.getOperation() : sequence.getOperation();
    InFlightDiagnostic diag = tactic->emitOpError()
                              << "splits sequences of " << length << " tokens over " << plainAxes(tacticAxes(tactic))
                              << ", " << (cp > 1 ? cp : tp) << " ranks";
    if (cp > 1 && tp > 1)
      diag << ", and `" << tacticText(sequence) << "` each part over " << tp;
    diag << "; expected a multiple of " << needed;
    if (cp > 1 && tp > 1)
      diag.attachNote(sequence.getLoc()) << "split further by this tactic";
    diag.attachNote(slot.getLoc()) << "the sequence is that of this input";
    return false;
  }
  return true;
}

/// Causal attention of a rank's queries is as much work on every rank if it holds an early and a late chunk. Where
/// heads are split instead, it is so anyway.
static void orderInZigzag(nn::TrainingStepOp step, int64_t ranks) {
  OpBuilder builder(step.getContext());
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>())
    if (tokensDimension(slot) >= 0)
      slot.setZigzagAttr(builder.getI64IntegerAttr(ranks));
  step.walk([&](nn::PositionsOp positions) {
    positions.setZigzagAttr(builder.getI64IntegerAttr(ranks));
    positions.setSequenceAttr(builder.getI64IntegerAttr(positions.getY().getType().getDimSize(1)));
  });
}

bool SlotShardings::splitContext(ContextOp tactic) {
  ArrayRef<AxisRef> axes = tactic.getAxes().getRefs();
  int64_t ranks = axesSize(mesh, axes);
  if (ranks == 1)
    return true;
  bool sound = true;
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>())
    if (int dim = tokensDimension(slot); dim >= 0)
      sound &= add(slot, dim, axes, tactic);
  if (tactic.getKind() != ContextKind::AllToAll)
    orderInZigzag(step, ranks);
  if (tactic.getKind() == ContextKind::Ring)
    step.walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op).Case<nn::AttentionOp, nn::AttentionGradOp>([](auto attention) {
        if (attention.getQ().getType().getDimSize(1) == attention.getK().getType().getDimSize(1))
          attention.setRing(true);
      });
    });
  return sound;
}

/// What is added to an accumulator.
static Value summand(nn::WriteOp write) {
  Operation *sum = write.getValue().getDefiningOp();
  for (Value operand : sum->getOperands())
    if (!isa<nn::ReadOp>(operand.getDefiningOp()))
      return operand;
  return write.getValue();
}

void waitForTokens(const Propagation &settled, PlanOp plan) {
  const AxisAtoms &atoms = settled.getAtoms();
  Atoms tokens;
  for (Operation &tactic : plan.getBody().front())
    if (isa<ContextOp, SequenceOp>(tactic))
      tokens.append(atoms.fromRefs(tacticAxes(&tactic)));
  const StepGraph &graph = settled.getGraph();
  for (auto write : nn::TrainingStepOp(graph.step).getMicrobatch().getOps<nn::WriteOp>()) {
    nn::SlotOp slot = graph.slotOf(write);
    auto sharding = dyn_cast_or_null<ShardingAttr>(slot.getShardingAttr());
    if (slot.getKind() != nn::SlotKind::Accumulator || !sharding)
      continue;
    Atoms partial = atoms.partialOf(sharding);
    AtomDims dims = atoms.dimsOf(sharding);
    for (Atom atom : settled.natural(summand(write)).partial)
      if (llvm::is_contained(tokens, atom) && !contains(dims, atom) && !llvm::is_contained(partial, atom))
        partial.push_back(atom);
    llvm::sort(partial);
    slot.setShardingAttr(sharding.withPartial(atoms.toRefs(partial)));
  }
}
} // namespace hocket::dist
