// See WeightGradWork.h.
#include "passes/DistToStep/WeightGradWork.h"
#include "passes/Dist/LeastKept.h"
#include "passes/Dist/StepCost.h"
#include "passes/DistToStep/SlotPeak.h"
#include "llvm/ADT/MapVector.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

static bool isMadeAgain(Operation *op) { return nn::getPhase(op) == nn::Phase::Recompute; }

WeightGradWork::WeightGradWork(Block &microbatch, const StagePlacement &placement, unsigned stage) {
  SmallVector<Operation *> madeAgain;
  for (Operation &op : microbatch)
    if (auto home = placement.virtualStageOf.find(&op);
        home != placement.virtualStageOf.end() && placement.places[home->second].stage == stage && isMadeAgain(&op))
      madeAgain.push_back(&op);
  findOnly(madeAgain);
  findTwice(madeAgain);
  keepWhereSlotsDoNotShrink(microbatch, placement, stage);
  moveWhatBackwardDoesNotNeed(madeAgain);
}

/// Of forward values alone, and used by weight gradients alone.
void WeightGradWork::findOnly(ArrayRef<Operation *> madeAgain) {
  auto inWeightGrad = [&](Operation *op) { return nn::getPhase(op) == nn::Phase::WeightGrad || only.contains(op); };
  for (Operation *op : llvm::reverse(madeAgain))
    if (llvm::all_of(op->getUsers(), inWeightGrad))
      only.insert(op);
  auto mayStay = [&](Operation *op) {
    return llvm::all_of(op->getUsers(), inWeightGrad) && llvm::all_of(op->getOperands(), [&](Value operand) {
             Operation *maker = operand.getDefiningOp();
             return isFree(maker) || inWeightGrad(maker) || nn::getPhase(maker) == nn::Phase::Forward;
           });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op : madeAgain)
      if (only.contains(op) && !mayStay(op))
        changed = only.erase(op);
  }
}

namespace {
int64_t bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? byteSize(type) : 0;
}

/// What weight gradients read as a graph to cut.
struct Reads {
  const llvm::DenseSet<Operation *> &only;
  dist::LeastKept cut;
  llvm::MapVector<Value, dist::LeastKept::Node> nodes;

  bool read(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return nn::getPhase(user) == nn::Phase::WeightGrad || only.contains(user);
    });
  }
  bool canBeMade(Operation *op) const { return isMadeAgain(op) && !only.contains(op) && !dist::collectiveAxes(op); }
  dist::LeastKept::Node node(Value value) {
    if (auto known = nodes.find(value); known != nodes.end())
      return known->second;
    dist::LeastKept::Node made = cut.add(bytesOf(value));
    nodes.insert({value, made});
    Operation *op = value.getDefiningOp();
    if (read(value))
      cut.isRead(made);
    if (!canBeMade(op)) {
      cut.cannotBeMade(made);
      return made;
    }
    for (Value operand : op->getOperands())
      if (!isFree(operand.getDefiningOp()))
        cut.makes(node(operand), made);
    return made;
  }
};
} // namespace

void WeightGradWork::findTwice(ArrayRef<Operation *> madeAgain) {
  Reads reads{only, {}, {}};
  for (Operation *op : madeAgain)
    for (Value result : op->getResults())
      if (reads.canBeMade(op) && reads.read(result))
        reads.node(result);
  SmallVector<bool> again = reads.cut.solve();
  for (auto &[value, node] : reads.nodes)
    if (again[node] && reads.canBeMade(value.getDefiningOp()))
      twice.insert(value.getDefiningOp());
}

/// Slots of a stage are all as large as the chain of chunks needs that needs most.
void WeightGradWork::keepWhereSlotsDoNotShrink(Block &microbatch, const StagePlacement &placement, unsigned stage) {
  if (twice.empty())
    return;
  schedule::Chains chains(placement.problem());
  llvm::MapVector<unsigned, SmallVector<Operation *>> opsOf; // by the head of the chain
  for (Operation &op : microbatch)
    if (auto home = placement.virtualStageOf.find(&op); home != placement.virtualStageOf.end())
      if (schedule::Place place = placement.places[home->second]; place.stage == stage)
        opsOf[chains.head(stage, place.chunk)].push_back(&op);
  auto peak = [&](ArrayRef<Operation *> ops, bool again) {
    return slotPeak(ops, [&](Operation *op, BodyKind kind) {
      nn::Phase phase = nn::getPhase(op);
      if (phase == nn::Phase::Forward || kind == BodyKind::Forward)
        return phase == nn::Phase::Forward && kind == BodyKind::Forward;
      bool inWeightGrad = phase == nn::Phase::WeightGrad || only.contains(op);
      return inWeightGrad == (kind == BodyKind::WeightGrad) || (again && twice.contains(op));
    });
  };
  int64_t least = 0;
  for (auto &[head, ops] : opsOf)
    least = std::max(least, peak(ops, /*again=*/true));
  for (auto &[head, ops] : opsOf)
    if (peak(ops, /*again=*/false) <= least)
      for (Operation *op : ops)
        twice.erase(op);
}

void WeightGradWork::moveWhatBackwardDoesNotNeed(ArrayRef<Operation *> madeAgain) {
  for (Operation *op : llvm::reverse(madeAgain))
    if (twice.contains(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
          return nn::getPhase(user) == nn::Phase::WeightGrad || only.contains(user);
        })) {
      twice.erase(op);
      only.insert(op);
    }
}
