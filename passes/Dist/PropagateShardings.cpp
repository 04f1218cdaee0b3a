// Writes on every op the sharding in which it makes its results (pass dist-propagate-shardings).
#include "passes/Dist/Origins.h"
#include "passes/Dist/Passes.h"
#include "llvm/ADT/DenseSet.h"
using namespace mlir;

namespace hocket::dist {
#define GEN_PASS_DEF_PROPAGATESHARDINGSPASS
#include "passes/Dist/Passes.h.inc"

namespace {
std::string opText(Operation *op) {
  StringRef path = nn::getPath(op);
  return op->getName().stripDialect().str() + (path.empty() ? "" : " in " + path.str());
}

/// Splits that tactics ask for and ops refuse. Other wishes (an accumulator's, a moment's) are reached by a reshard.
class ObstacleReport {
public:
  ObstacleReport(const Propagation &propagation, PlanOp plan) : propagation(propagation), origins(propagation, plan) {}

  LogicalResult report() {
    for (const Obstacle &obstacle : propagation.obstacles()) {
      Origin from = origins.ofValue(obstacle.node, obstacle.dim, obstacle.atom);
      auto split = dyn_cast_or_null<SplitOp>(from.tactic);
      if (!split)
        continue;
      const StepOp &op = propagation.getGraph().ops[obstacle.op];
      if (obstacle.whole)
        refuse(split, from, op, obstacle);
      else
        conflict(split, from, op, obstacle);
    }
    return success(sound);
  }

private:
  void refuse(SplitOp split, const Origin &from, const StepOp &op, const Obstacle &obstacle) {
    sound = false;
    if (!reported.insert({split, nullptr}).second)
      return;
    const nn::Factor &factor = op.rule.factors[obstacle.factor];
    InFlightDiagnostic diag = split.emitOpError()
                              << "asks for a split that cannot be carried: " << opText(op.op) << " needs its factor "
                              << factor.name << ", of " << factor.size << ", whole";
    diag.attachNote(op.op->getLoc()) << "needed whole here";
    noteWay(diag, from);
  }

  void conflict(SplitOp split, const Origin &from, const StepOp &op, const Obstacle &obstacle) {
    Origin other = origins.ofFactor(obstacle.op, obstacle.other, obstacle.atom);
    auto otherSplit = dyn_cast_or_null<SplitOp>(other.tactic);
    if (!otherSplit || otherSplit == split)
      return;
    sound = false;
    if (!reported.insert({split, otherSplit}).second || reported.contains({otherSplit, split}))
      return;
    const auto &factors = op.rule.factors;
    InFlightDiagnostic diag = split.emitOpError()
                              << "is in conflict with another tactic: in " << opText(op.op) << " axis "
                              << plainAxes(propagation.getAtoms().toRefs({obstacle.atom})) << " would split both "
                              << factors[obstacle.factor].name << " and " << factors[obstacle.other].name;
    diag.attachNote(otherSplit.getLoc()) << "the other tactic, through \"" << other.slot.getName() << '"';
    diag.attachNote(op.op->getLoc()) << "both meet here";
    noteWay(diag, from);
  }

  void noteWay(InFlightDiagnostic &diag, const Origin &from) {
    std::string way;
    for (Operation *op : from.through)
      way += (way.empty() ? ", through " : ", ") + opText(op);
    nn::SlotOp slot = from.slot;
    diag.attachNote(slot.getLoc()) << "the split begins at \"" << slot.getName() << '"' << way;
  }

  const Propagation &propagation;
  Origins origins;
  llvm::DenseSet<std::pair<Operation *, Operation *>> reported;
  bool sound = true;
};

struct PropagateShardingsPass : impl::PropagateShardingsPassBase<PropagateShardingsPass> {
  void runOnOperation() override {
    if (failed(forEachPlannedStep(getOperation(),
                                  [this](auto step, PlanOp plan, MeshOp mesh) { return propagate(step, plan, mesh); })))
      signalPassFailure();
  }

  LogicalResult propagate(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh) {
    FailureOr<StepGraph> graph = StepGraph::create(step);
    if (failed(graph))
      return failure();
    FailureOr<Propagation> propagation = Propagation::run(*graph, mesh);
    if (failed(propagation) || failed(ObstacleReport(*propagation, plan).report()))
      return failure();
    for (auto &[slot, node] : graph->slots)
      if (!cast<nn::SlotOp>(slot).getShardingAttr())
        cast<nn::SlotOp>(slot).setShardingAttr(propagation->toSharding(propagation->atRest(cast<nn::SlotOp>(slot))));
    step.walk([&](Operation *op) {
      bool placed = isa<nn::ReadOp>(op) || graph->opIndex.contains(op);
      if (!placed)
        return;
      SmallVector<Attribute> shardings;
      for (Value result : op->getResults())
        shardings.push_back(propagation->toSharding(propagation->natural(result)));
      nn::setShardings(op, shardings);
    });
    return success();
  }
};
} // namespace
} // namespace hocket::dist
