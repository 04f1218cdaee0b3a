// Homes of the values of update and evaluate.
#include "passes/DistToStep/UpdateHomes.h"
#include "dialect/Dist/Dist.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

static Stages homesOfRead(nn::ReadOp read, const StagePlacement &placement) {
  Stages homes(placement.stages);
  StringRef name = read.getName();
  switch (read.getKind()) {
  case nn::SlotKind::Param:
  case nn::SlotKind::FirstMoment:
  case nn::SlotKind::SecondMoment:
    if (auto it = placement.holders.find(name); it != placement.holders.end())
      for (unsigned stage : it->second)
        homes.set(stage);
    return homes;
  case nn::SlotKind::Accumulator:
    if (auto it = placement.accumulatorStage.find(name); it != placement.accumulatorStage.end())
      homes.set(it->second);
    return homes;
  default:
    return homes.flip(); // values and inputs are made on every stage
  }
}

FailureOr<UpdateHomes> UpdateHomes::compute(Region &region, const StagePlacement &placement) {
  UpdateHomes result;
  Stages all(placement.stages, true);
  for (Operation &op : region.front()) {
    if (auto read = dyn_cast<nn::ReadOp>(op)) {
      result.homes[read.getValue()] = homesOfRead(read, placement);
      continue;
    }
    if (auto reduce = dyn_cast<dist::AllReduceOp>(op)) { // each tensor on its own
      for (auto [in, out] : llvm::zip_equal(reduce.getXs(), reduce.getYs()))
        result.homes[out] = result.of(in);
      continue;
    }
    Stages shared = all, any(placement.stages);
    bool known = true;
    for (Value operand : op.getOperands()) {
      shared &= result.of(operand);
      any |= result.of(operand);
      known &= result.everywhere(operand);
    }
    if (isa<nn::StackOp>(op) && !known) {
      result.joining.insert(&op);
      shared = all;
    } else if (shared.none() && isa<nn::AddOp>(op)) {
      result.joining.insert(&op);
      shared = any;
    } else if (shared.none()) {
      auto error = op.emitError() << "uses values of different stages, and is neither an add nor a stack that could join them";
      for (Value operand : op.getOperands())
        error.attachNote(operand.getLoc()) << "known on stage " << result.giver(operand);
      return failure();
    }
    for (Value value : op.getResults())
      result.homes[value] = shared;
  }
  return result;
}
