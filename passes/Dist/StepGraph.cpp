// Builds the graph of a training step.
#include "passes/Dist/StepGraph.h"
using namespace mlir;

namespace hocket::dist {

Node StepGraph::addNode(Type type) {
  types.push_back(cast<RankedTensorType>(type));
  uses.emplace_back();
  makers.emplace_back();
  return static_cast<Node>(types.size()) - 1;
}

nn::SlotOp StepGraph::slotOf(Operation *op) const {
  std::pair<int, StringAttr> key;
  if (auto read = dyn_cast<nn::ReadOp>(op))
    key = {static_cast<int>(read.getKind()), read.getNameAttr()};
  else if (auto write = dyn_cast<nn::WriteOp>(op))
    key = {static_cast<int>(write.getKind()), write.getNameAttr()};
  else
    return {};
  return dyn_cast_or_null<nn::SlotOp>(byName.lookup(key));
}

/// What a region reads of an accumulator is partial while it is at rest, and may be joined into shards; what microbatch
/// reads of a slot that is used otherwise than it lies at rest will be gathered: nodes of their own.
static bool hasOwnNode(nn::SlotOp slot, bool microbatch) {
  return slot.getKind() == nn::SlotKind::Accumulator || (microbatch && slot.getUse());
}

LogicalResult StepGraph::addRegion(Region &region) {
  bool sound = true;
  for (Operation &op : region.front()) {
    if (isa<nn::ReadOp, nn::WriteOp>(op)) {
      nn::SlotOp slot = slotOf(&op);
      if (!slot) {
        op.emitOpError() << "speaks of a slot that is not declared";
        sound = false;
        continue;
      }
      if (auto write = dyn_cast<nn::WriteOp>(op); write && slot.getKind() == nn::SlotKind::Value) {
        Node value = nodes.lookup(write.getValue()), taker = slots.lookup(slot);
        handovers.push_back({value, taker});
        acrossHandover[value].push_back(taker);
        acrossHandover[taker].push_back(value);
      }
      if (auto read = dyn_cast<nn::ReadOp>(op)) {
        bool own = hasOwnNode(slot, &region == &step.getMicrobatch());
        Node node = nodes[read.getValue()] = own ? addNode(read.getValue().getType()) : slots.lookup(slot);
        if (own)
          ownReads[node] = slot;
      }
      continue;
    }
    auto factors = dyn_cast<nn::FactorOpInterface>(op);
    if (!factors) {
      op.emitOpError() << "has no factor rule, so nothing is known of how it may be split";
      sound = false;
      continue;
    }
    StepOp stepOp{&op, factors.getFactorRule(), {}, {}, &region};
    int index = static_cast<int>(ops.size());
    for (Value operand : op.getOperands())
      stepOp.operands.push_back(isa<RankedTensorType>(operand.getType()) ? nodes.lookup_or(operand, -1) : -1);
    for (Value result : op.getResults())
      stepOp.results.push_back(nodes[result] = addNode(result.getType()));
    for (auto [i, node] : llvm::enumerate(stepOp.operands))
      if (node >= 0)
        uses[node].push_back({index, static_cast<int>(i)});
    for (auto [i, node] : llvm::enumerate(stepOp.results))
      makers[node].push_back({index, static_cast<int>(i)});
    opIndex[&op] = index;
    ops.push_back(std::move(stepOp));
  }
  return success(sound);
}

FailureOr<StepGraph> StepGraph::create(nn::TrainingStepOp step) {
  StepGraph graph;
  graph.step = step;
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>()) {
    graph.slots[slot] = graph.addNode(slot.getType());
    graph.byName[{static_cast<int>(slot.getKind()), slot.getNameAttr()}] = slot;
  }
  bool sound = true;
  for (Region *region : {&step.getBegin(), &step.getMicrobatch(), &step.getUpdate(), &step.getEvaluate()})
    sound &= succeeded(graph.addRegion(*region));
  if (!sound)
    return failure();
  return graph;
}
} // namespace hocket::dist
