// Makes values of forward again where backward reads them (pass dist-recompute; Chen et al. 2016, "Training Deep Nets
// with Sublinear Memory Cost").
//
// Ops of forward are copied right before the first op of backward that needs them, one by one: what a layer makes again
// lives while that layer's backward runs. A copy has the path, the attributes and the operands of its op, so that masks
// of dropout, positions and choices of routers are the same, and every bit.
#include "dialect/Dist/FreeValues.h"
#include "passes/Dist/Passes.h"
#include "passes/Dist/RemadeValues.h"
#include "passes/Dist/StepCost.h"
#include "passes/Dist/Tactics.h"
using namespace mlir;

namespace hocket::dist {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "passes/Dist/Passes.h.inc"

namespace {
class Remaker {
public:
  Remaker(nn::TrainingStepOp step, const RecomputeUnits &units)
      : block(step.getMicrobatch().front()), units(units), remade(step, units) {
    for (auto write : block.getOps<nn::WriteOp>())
      written.insert({write.getKind(), write.getName()});
  }

  LogicalResult run() {
    SmallVector<Operation *> backward;
    for (Operation &op : block)
      if (nn::getPhase(&op) != nn::Phase::Forward && !isFree(&op))
        backward.push_back(&op);
    for (Operation *op : backward)
      for (OpOperand &operand : op->getOpOperands())
        if (remade.contains(operand.get()))
          operand.set(again(operand.get(), op));
    return success(sound);
  }

private:
  /// What stands for a value of forward in what is made again, made before `place` if it is not yet.
  Value again(Value value, Operation *place) {
    if (Value known = made.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    Operation *twin = remade.twin(op);
    if (!twin && !remade.contains(value))
      return value;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(again(operand, place));
    if (twin) {
      // For weight_grad alone it would come too late: what is made again is part of backward.
      nn::setPhase(twin, nn::Phase::Backward);
      if (place->isBeforeInBlock(twin))
        twin->moveBefore(place);
    } else {
      checkSameBits(op);
      twin = copy(op, place);
    }
    twin->setOperands(operands);
    for (auto [before, now] : llvm::zip(op->getResults(), twin->getResults()))
      made[before] = now;
    return made[value];
  }

  Operation *copy(Operation *op, Operation *place) {
    Operation *copy = OpBuilder(place).clone(*op);
    nn::setPhase(copy, nn::Phase::Recompute);
    if (auto cause = op->getAttrOfType<StringAttr>("cause"))
      copy->setAttr("cause", StringAttr::get(op->getContext(), tacticText(units.of(op)->tactic) +
                                                                   " makes it again: " + cause.getValue()));
    return copy;
  }

  /// An op that is no function of its operands, or that reads what changes in between, may make other bits.
  void checkSameBits(Operation *op) {
    RecomputeOp tactic = units.of(op)->tactic;
    if (!isPure(op) && !collectiveAxes(op)) {
      InFlightDiagnostic diag = tactic.emitOpError()
                                << "makes '" << op->getName() << "' of " << nn::getPath(op)
                                << " again, which is no function of its operands alone; its bits could differ";
      diag.attachNote(op->getLoc()) << "made here";
      sound = false;
    }
    for (Value operand : op->getOperands())
      if (auto read = operand.getDefiningOp<nn::ReadOp>(); read && written.contains({read.getKind(), read.getName()})) {
        InFlightDiagnostic diag = tactic.emitOpError()
                                  << "makes '" << op->getName() << "' of " << nn::getPath(op) << " again, which reads "
                                  << nn::stringifySlotKind(read.getKind()) << " \"" << read.getName()
                                  << "\"; the microbatch writes it, so its bits could differ";
        diag.attachNote(op->getLoc()) << "made here";
        sound = false;
      }
  }

  Block &block;
  const RecomputeUnits &units;
  RemadeValues remade;
  llvm::DenseMap<Value, Value> made;
  std::set<std::pair<nn::SlotKind, StringRef>> written;
  bool sound = true;
};

struct RecomputePass : impl::RecomputePassBase<RecomputePass> {
  void runOnOperation() override {
    if (failed(
            forEachPlannedStep(getOperation(), [](auto step, PlanOp plan, MeshOp) { return recompute(step, plan); })))
      signalPassFailure();
  }

  static LogicalResult recompute(nn::TrainingStepOp step, PlanOp plan) {
    if (!plan.tactic<RecomputeOp>())
      return success();
    FailureOr<RecomputeUnits> units = RecomputeUnits::create(step, plan);
    return failed(units) ? failure() : Remaker(step, *units).run();
  }
};
} // namespace
} // namespace hocket::dist
