// Judges every partitioned step of a module (pass dist-verify-partition).
#include "passes/Dist/Judge/PartitionJudge.h"
#include "passes/Dist/Judge/Passes.h"
using namespace mlir;

namespace hocket::dist {
#define GEN_PASS_DEF_VERIFYPARTITIONPASS
#include "passes/Dist/Judge/Passes.h.inc"

namespace {
/// Some shard of the step, null if nothing in it claims to be one.
ShardAttr anyShard(nn::TrainingStepOp step) {
  ShardAttr found;
  step->walk([&](Operation *op) {
    if (auto slot = dyn_cast<nn::SlotOp>(op))
      found = dyn_cast_or_null<ShardAttr>(slot.getShardingAttr());
    for (OpResult result : op->getResults())
      found = found ? found : dyn_cast_or_null<ShardAttr>(nn::getSharding(result));
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

struct VerifyPartitionPass : impl::VerifyPartitionPassBase<VerifyPartitionPass> {
  void runOnOperation() override {
    for (auto step : getOperation().getOps<nn::TrainingStepOp>())
      if (failed(judge(step)))
        signalPassFailure();
    markAllAnalysesPreserved();
  }

  /// The mesh of the step's plan; without a plan that of its shards.
  LogicalResult judge(nn::TrainingStepOp step) {
    ModuleOp module = getOperation();
    FlatSymbolRefAttr name;
    if (auto planName = step.getPlanAttr()) {
      auto plan = module.lookupSymbol<PlanOp>(planName.getAttr());
      if (!plan)
        return step.emitOpError() << "is under the unknown plan " << planName;
      name = plan.getMeshAttr();
    } else if (ShardAttr shard = anyShard(step)) {
      name = shard.getSharding().getMesh();
    } else {
      return success();
    }
    if (auto mesh = module.lookupSymbol<MeshOp>(name.getAttr()))
      return judgePartition(step, mesh);
    return step.emitOpError() << "lives on the unknown mesh " << name;
  }
};
} // namespace
} // namespace hocket::dist
