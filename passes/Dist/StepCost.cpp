// Adds up the cost of a partitioned step.
#include "passes/Dist/StepCost.h"
#include "passes/Dist/Tactics.h"
using namespace mlir;

namespace hocket::dist {

static double bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return 0;
  return static_cast<double>(type.getNumElements()) * ((type.getElementTypeBitWidth() + 7) / 8);
}

AxesAttr collectiveAxes(Operation *op) {
  return isa<DistDialect>(op->getDialect()) && op->hasAttr("cause") ? op->getAttrOfType<AxesAttr>("axes") : AxesAttr();
}

double sentShare(Operation *collective, int64_t ranks) {
  double one = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return isa<AllReduceOp>(collective) ? 2 * one : isa<ShiftOp>(collective) ? 1 : one;
}

namespace {
class Counter {
public:
  Counter(MeshOp mesh, const ShortStep &step, const Machine &machine) : mesh(mesh), step(step), machine(machine) {}

  void count(Region &region, double times) {
    for (Operation &op : region.front()) {
      double all = times * static_cast<double>(step.weight(nn::getPath(&op)));
      if (AxesAttr axes = collectiveAxes(&op))
        countCollective(&op, axes, all);
      else if (!isa<nn::ReadOp, nn::WriteOp>(op))
        countWork(&op, all);
    }
  }
  void countRest(Block &slots) {
    for (auto slot : slots.getOps<nn::SlotOp>()) {
      auto type = dyn_cast<RankedTensorType>(slot.getType());
      if (type && !llvm::is_contained({nn::SlotKind::Input, nn::SlotKind::Output, nn::SlotKind::Value}, slot.getKind()))
        cost.restBytes += static_cast<double>(step.weight(slot.getName())) *
                          static_cast<double>(type.getNumElements()) * ((type.getElementTypeBitWidth() + 7) / 8);
    }
  }
  StepCost cost;

private:
  void countCollective(Operation *op, AxesAttr axes, double times) {
    int64_t ranks = axesSize(mesh, axes.getRefs());
    double rounds = isa<ShiftOp>(op) ? 1 : (isa<AllReduceOp>(op) ? 2.0 : 1.0) * static_cast<double>(ranks - 1);
    double bytes = 0;
    for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults()))
      bytes += std::max(bytesOf(operand), bytesOf(result));
    double sent = sentShare(op, ranks) * bytes;
    cost.wireBytes += times * sent;
    cost.wireSeconds += times * (rounds * machine.latency + sent / machine.linkBytes);
    Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
    std::string kind;
    llvm::raw_string_ostream(kind) << op->getName().stripDialect() << ' ' << element << " over "
                                   << plainAxes(axes.getRefs());
    cost.wireByKind[kind] += times * sent;
    cost.wireByPhase[phaseOf(op)] += times * sent;
  }

  static StringRef phaseOf(Operation *op) {
    auto step = cast<nn::TrainingStepOp>(op->getParentOp());
    if (op->getParentRegion() == &step.getMicrobatch())
      return nn::stringifyPhase(nn::getPhase(op));
    return op->getParentRegion() == &step.getBegin() ? "begin" : "update";
  }

  void countWork(Operation *op, double times) {
    double bytes = 0, flops = 0;
    for (Value value : op->getOperands())
      bytes += bytesOf(value);
    for (Value value : op->getResults())
      bytes += bytesOf(value);
    if (auto meaning = dyn_cast<nn::ReferenceOpInterface>(op))
      flops = static_cast<double>(meaning.getFlops());
    cost.flops += times * flops;
    cost.computeSeconds += times * std::max(flops / machine.flops, bytes / machine.memoryBytes);
  }

  MeshOp mesh;
  const ShortStep &step;
  const Machine &machine;
};
} // namespace

StepCost costOf(nn::TrainingStepOp local, MeshOp mesh, const ShortStep &step, const Machine &machine) {
  Counter counter(mesh, step, machine);
  counter.count(local.getBegin(), 1);
  counter.count(local.getMicrobatch(), static_cast<double>(local.getMicrobatchesAttr().getInt()));
  counter.count(local.getUpdate(), 1);
  counter.countRest(local.getSlots().front());
  return std::move(counter.cost);
}
} // namespace hocket::dist
