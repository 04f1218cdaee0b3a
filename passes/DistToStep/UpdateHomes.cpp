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
  case nn::SlotKind::Master:
    if (auto it = placement.holders.find(name); it != placement.holders.end())
      for (unsigned stage : it->second)
        homes.set(stage);
    return homes;
  case nn::SlotKind::Accumulator:
    if (auto it = placement.accumulatorStage.find(name); it != placement.accumulatorStage.end())
      homes.set(it->second);
    return homes;
  default:
    return homes.flip(); // values, inputs and numbers of the state are known on every stage
  }
}

void UpdateHomes::setHomes(Value value, Stages stages) {
  givers[value] = std::max(stages.find_first(), 0);
  made[value] = stages;
  now[value] = std::move(stages);
}

/// From what is written back: the stages that hold a parameter need its next value and its state's.
void UpdateHomes::findDemand(Region &region, const StagePlacement &placement) {
  auto need = [&](Value value, const Stages &where) {
    auto [it, fresh] = demand.try_emplace(value, where);
    if (!fresh)
      it->second |= where;
  };
  for (Operation &op : llvm::reverse(region.front())) {
    if (auto write = dyn_cast<nn::WriteOp>(op)) {
      auto holders = placement.holders.find(write.getName());
      if (!nn::livesAcrossSteps(write.getKind()) || holders == placement.holders.end())
        continue;
      Stages where(stages);
      for (unsigned stage : holders->second)
        where.set(stage);
      need(write.getValue(), where);
      continue;
    }
    if (auto reduce = dyn_cast<dist::AllReduceOp>(op)) {
      for (auto [in, out] : llvm::zip_equal(reduce.getXs(), reduce.getYs()))
        if (auto it = demand.find(out); it != demand.end())
          need(in, Stages(it->second));
      continue;
    }
    if (isa<nn::StackOp>(op)) // joins all stages by itself
      continue;
    Stages all(stages);
    for (Value result : op.getResults())
      if (auto it = demand.find(result); it != demand.end())
        all |= it->second;
    if (all.any())
      for (Value operand : op.getOperands())
        need(operand, all);
  }
}

LogicalResult UpdateHomes::visit(Operation *op) {
  Stages shared(stages, true), any(stages);
  bool known = true;
  auto look = [&] {
    shared = Stages(stages, true);
    for (Value operand : op->getOperands()) {
      shared &= now[operand];
      any |= now[operand];
      known &= now[operand].all();
    }
  };
  look();
  if (isa<nn::StackOp>(op) && !known) {
    joining.insert(op);
    shared = Stages(stages, true);
  } else if (shared.none() && isa<nn::AddOp>(op)) {
    joining.insert(op);
    shared = any;
  } else {
    Stages needed(stages);
    for (Value value : isa<nn::WriteOp>(op) ? ValueRange(op->getOperands()) : ValueRange(op->getResults()))
      if (auto it = demand.find(value); it != demand.end())
        needed |= it->second;
    for (Value operand : op->getOperands())
      if (needed.test(now[operand])) { // a stage needs it, and does not know it
        now[operand] |= needed;
        spreads[op].push_back({operand, now[operand]});
      }
    look();
  }
  if (shared.none()) {
    auto error =
        op->emitError() << "uses values of different stages, and is neither an add nor a stack that could join them";
    for (Value operand : op->getOperands())
      error.attachNote(operand.getLoc()) << "known on stage " << giver(operand);
    return failure();
  }
  runs[op] = shared;
  for (Value value : op->getResults())
    setHomes(value, shared);
  return success();
}

FailureOr<UpdateHomes> UpdateHomes::compute(Region &region, const StagePlacement &placement) {
  UpdateHomes result;
  result.stages = placement.stages;
  result.findDemand(region, placement);
  bool sound = true;
  for (Operation &op : region.front()) {
    if (auto read = dyn_cast<nn::ReadOp>(op))
      result.setHomes(read.getValue(), homesOfRead(read, placement));
    else if (auto reduce = dyn_cast<dist::AllReduceOp>(op)) // each tensor on its own
      for (auto [in, out] : llvm::zip_equal(reduce.getXs(), reduce.getYs()))
        result.setHomes(out, result.now[in]);
    else if (failed(result.visit(&op))) {
      sound = false;
      for (Value value : op.getResults())
        result.setHomes(value, Stages(placement.stages, true));
    }
  }
  if (!sound)
    return failure();
  return result;
}
