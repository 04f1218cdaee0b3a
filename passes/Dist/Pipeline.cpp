// The order of the passes of the where layer.
#include "mlir/Pass/PassManager.h"
#include "passes/Dist/Judge/Passes.h"
#include "passes/Dist/Passes.h"
using namespace mlir;

void hocket::dist::buildDistPipeline(OpPassManager &manager, const DistPipelineOptions &options) {
  // First, because all else follows from slots. Then: every slot has a sharding, every tactic fits the model.
  manager.addPass(createApplyPlanPass(ApplyPlanPassOptions{options.zeroWholeBelow, /*print=*/false}));
  // Needs the shardings of slots and factors of ops only. Then: every value has a sharding, partial ones included, and
  // no split stands where an op cannot carry it.
  manager.addPass(createPropagateShardingsPass());
  if (options.stopAfterShardings)
    return;
  // Once, after all shardings are settled: no tactic inserts collectives itself. Then: local types, no op with operands
  // in disagreement, every transfer an op with its cause.
  manager.addPass(createPartitionPass());
  // Of local ops, so that collectives are among what is chosen from; before transfers are counted, because `full` adds
  // some. Then: what backward reads of forward is what the plan keeps.
  manager.addPass(createRecomputePass());
  // Where the user set a limit: the partitioner makes any plan work, also one that moves what nobody meant to move.
  if (options.maxImplicitBytes)
    manager.addPass(createVerifyPlannedTransfersPass(VerifyPlannedTransfersPassOptions{*options.maxImplicitBytes}));
  // On the border, so that later passes can trust the partition. Knows nothing of the partitioner; changes nothing.
  // Then: every value is what it says it is a shard or partial of.
  manager.addPass(createVerifyPartitionPass());
}
