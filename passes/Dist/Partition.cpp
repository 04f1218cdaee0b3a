// From the global program to the program of one rank (pass dist-partition).
#include "passes/Dist/Partitioner.h"
#include "passes/Dist/Passes.h"
using namespace mlir;

namespace hocket::dist {
#define GEN_PASS_DEF_PARTITIONPASS
#include "passes/Dist/Passes.h.inc"

namespace {
struct PartitionPass : impl::PartitionPassBase<PartitionPass> {
  void runOnOperation() override {
    if (failed(forEachPlannedStep(getOperation(),
                                  [this](auto step, PlanOp plan, MeshOp mesh) { return partition(step, plan, mesh); })))
      signalPassFailure();
  }

  LogicalResult partition(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh) {
    FailureOr<StepGraph> graph = StepGraph::create(step);
    if (failed(graph))
      return failure();
    FailureOr<Propagation> propagation = Propagation::run(*graph, mesh);
    if (failed(propagation) || failed(checkShardings(*propagation)))
      return failure();
    Partitioner partitioner(*propagation, plan);
    for (Region *region : {&step.getBegin(), &step.getMicrobatch(), &step.getUpdate(), &step.getEvaluate()})
      if (failed(partitioner.run(*region)))
        return failure();
    joinScalarReductions(step.getUpdate());
    makeSlotsLocal(*propagation, mesh);
    return success();
  }

  /// What stands on an op must be how the op makes its results, or the program says one thing and does another.
  LogicalResult checkShardings(const Propagation &propagation) {
    bool sound = true;
    nn::TrainingStepOp(propagation.getGraph().step).walk([&](Operation *op) {
      for (OpResult result : op->getResults()) {
        Attribute said = nn::getSharding(result);
        if (!said || !(isa<nn::ReadOp>(op) || propagation.getGraph().opIndex.contains(op)))
          continue;
        ShardingAttr made = propagation.toSharding(propagation.natural(result));
        if (said != made) {
          op->emitOpError() << "says that its result is " << said << ", but its operands and slots make it " << made;
          sound = false;
        }
      }
    });
    return success(sound);
  }

  void makeSlotsLocal(const Propagation &propagation, MeshOp mesh) {
    for (auto &[op, node] : propagation.getGraph().slots) {
      auto slot = cast<nn::SlotOp>(op);
      auto type = cast<RankedTensorType>(slot.getType());
      ShardingAttr sharding = propagation.toSharding(propagation.atRest(slot));
      slot.setTypeAttr(TypeAttr::get(localType(mesh, type, sharding)));
      slot.setShardingAttr(ShardAttr::get(slot.getContext(), type, sharding));
    }
  }
};
} // namespace
} // namespace hocket::dist
