// Hands each op of a step to the check that knows it.
#include "passes/Dist/Judge/PartitionJudge.h"
#include "passes/Dist/Judge/CollectiveCheck.h"
#include "passes/Dist/Judge/FactorCheck.h"
#include "passes/Dist/Judge/RecomputeCheck.h"
#include "passes/Dist/Judge/RingCheck.h"
#include "passes/Dist/Judge/SlotCheck.h"
using namespace mlir;

namespace hocket::dist {

static void examine(judge::Claims &claims, Operation *op) {
  if (auto read = dyn_cast<nn::ReadOp>(op))
    return judge::checkRead(claims, read);
  if (auto write = dyn_cast<nn::WriteOp>(op))
    return judge::checkWrite(claims, write);
  if (auto factors = dyn_cast<nn::FactorOpInterface>(op))
    return judge::FactorCheck(claims, factors).run();
  if (isa<OffsetOp>(op) || judge::checkCollective(claims, op))
    return;
  claims.fault(op) << "has no factor rule and is no collective: what it makes of shards is unknown"; // C24
}

LogicalResult judgePartition(nn::TrainingStepOp step, MeshOp mesh) {
  judge::Claims claims(step, mesh);
  claims.read();
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>())
    judge::checkSlot(claims, slot);
  for (Region *region : {&step.getBegin(), &step.getMicrobatch(), &step.getUpdate(), &step.getEvaluate()})
    for (Operation &op : region->front())
      examine(claims, &op);
  judge::RingCheck(claims).run(step.getMicrobatch());
  judge::RecomputeCheck(claims).run(step.getMicrobatch());
  judge::checkOrder(claims);
  return failure(claims.anyFault());
}
} // namespace hocket::dist
