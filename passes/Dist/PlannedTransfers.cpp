// Classifies collectives by what they move, over which axes, and where.
#include "passes/Dist/PlannedTransfers.h"
#include "passes/Dist/LocalRegions.h"
#include "passes/Dist/Megatron.h"
using namespace mlir;

namespace hocket::dist {
namespace {
AxesAttr axesOfTactic(Operation &tactic) { return tactic.getAttrOfType<AxesAttr>("axes"); }

ShardAttr shardOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  return result ? dyn_cast_or_null<ShardAttr>(nn::getSharding(result)) : ShardAttr();
}

/// Ops that give on what they are given, element by element or in pieces.
bool passesOn(Operation *op) { return isa<SliceOp, MaskOp, nn::CastOp>(op) || collectiveAxes(op); }

/// The slot that a value comes from, or goes to, by nothing but transfers, slices and casts; none for what is computed.
struct Slot {
  nn::SlotKind kind;
  StringRef name;
};
std::optional<Slot> sourceOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && passesOn(op) && op->getNumOperands() == 1)
    op = op->getOperand(0).getDefiningOp();
  if (auto read = dyn_cast_or_null<nn::ReadOp>(op))
    return Slot{read.getKind(), read.getName()};
  return std::nullopt;
}
std::optional<Slot> targetOf(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto write = dyn_cast<nn::WriteOp>(user))
      return Slot{write.getKind(), write.getName()};
    if (passesOn(user) && user->getNumResults() == 1)
      if (auto slot = targetOf(user->getResult(0)))
        return slot;
    // The sum of an accumulator and its gradient.
    if (isa<nn::AddOp>(user))
      if (auto slot = targetOf(user->getResult(0)); slot && slot->kind == nn::SlotKind::Accumulator)
        return slot;
  }
  return std::nullopt;
}
bool isState(const std::optional<Slot> &slot) {
  return slot && slot->kind != nn::SlotKind::Input && slot->kind != nn::SlotKind::Output;
}

class Classifier {
public:
  Classifier(nn::TrainingStepOp local, PlanOp plan, MeshOp mesh) : local(local), plan(plan), mesh(mesh) {}

  SmallVector<PlannedTransfer> run() {
    SmallVector<PlannedTransfer> transfers;
    for (Region *region : {&local.getBegin(), &local.getMicrobatch(), &local.getUpdate()})
      for (Operation &op : region->front())
        if (AxesAttr axes = collectiveAxes(&op))
          transfers.push_back(classify(&op, axes.getRefs(), region == &local.getMicrobatch()));
    return transfers;
  }

private:
  PlannedTransfer classify(Operation *op, ArrayRef<AxisRef> axes, bool inMicrobatch) {
    PlannedTransfer transfer{op, SmallVector<AxisRef>(axes), 1, 0, true, ""};
    transfer.times = inMicrobatch ? local.getMicrobatchesAttr().getInt() : 1;
    for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults()))
      transfer.sentBytes += std::max(valueBytes(operand), valueBytes(result));
    transfer.sentBytes *= sentShare(op, axesSize(mesh, axes));
    transfer.planned = isPlanned(op, axes, inMicrobatch);
    if (!transfer.planned)
      transfer.remedy = remedyOf(op, axes);
    return transfer;
  }

  bool isPlanned(Operation *op, ArrayRef<AxisRef> axes, bool inMicrobatch) {
    if (!isa<AllGatherOp, AllToAllOp>(op) || isOfRegion(op))
      return true;
    Value moved = op->getOperand(0);
    bool ofState = isState(sourceOf(moved)) || isState(targetOf(op->getResult(0)));
    for (Operation &tactic : plan.getBody().front()) {
      if (!axesOfTactic(tactic) || !covers(axesOfTactic(tactic).getRefs(), axes))
        continue;
      StringRef name = tactic.getName().stripDialect();
      if (name == "zero" && ofState)
        return true;
      if (!inMicrobatch || ofState)
        continue;
      auto gather = dyn_cast<AllGatherOp>(op);
      if ((name == "sequence" && gather && gather.getDim() == 1) || name == "context" ||
          (name == "experts" && isa<AllToAllOp>(op)))
        return true;
    }
    return false;
  }

  /// Whether `refs` hold all devices that `part` does.
  bool covers(ArrayRef<AxisRef> refs, ArrayRef<AxisRef> part) const {
    return llvm::all_of(part, [&](const AxisRef &ref) { return overlaps(refs, ref); });
  }

  std::string remedyOf(Operation *op, ArrayRef<AxisRef> axes) {
    Value moved = op->getOperand(0);
    int64_t dim = isa<AllToAllOp>(op) ? cast<AllToAllOp>(op).getGatherDimAttr().getInt()
                                      : cast<AllGatherOp>(op).getDimAttr().getInt();
    // A parameter's own: it is computed with a split that it does not have at rest.
    if (auto slot = sourceOf(moved); isState(slot))
      return splitOf(*slot, dim, neededAxes(op->getResult(0), dim));
    ShardAttr shard = shardOf(moved);
    if (auto slot = targetOf(op->getResult(0)); isState(slot) && shard)
      return splitOf(*slot, dim, shard.getSharding().getDims()[dim].axes);
    // An activation: its user multiplies it with a parameter that does not follow.
    for (Operation *user : op->getResult(0).getUsers())
      if (std::string text = partnersSplit(user, op->getResult(0), dim, axes); !text.empty())
        return text;
    return "";
  }

  static std::string splitOf(const Slot &slot, int64_t dim, ArrayRef<AxisRef> axes) {
    std::string name = starredName(parameterOf(slot.name));
    return axes.empty() ? "leaving \"" + name + "\" whole" : "`" + splitText(name, dim, axes) + "`";
  }

  /// How a gathered value is split again by those that use it; none where one needs it whole.
  static SmallVector<AxisRef> neededAxes(Value gathered, int64_t dim) {
    for (Operation *user : gathered.getUsers())
      if (auto slice = dyn_cast<SliceOp>(user); slice && slice.getDimAttr().getInt() == dim)
        if (ShardAttr shard = shardOf(slice->getResult(0)))
          return shard.getSharding().getDims()[dim].axes;
    return {};
  }

  /// The parameter that `user` contracts dimension `dim` of `value` with.
  std::string partnersSplit(Operation *user, Value value, int64_t dim, ArrayRef<AxisRef> axes) {
    auto factors = dyn_cast<nn::FactorOpInterface>(user);
    if (!factors)
      return "";
    nn::FactorRule rule = factors.getFactorRule();
    for (OpOperand &operand : user->getOpOperands()) {
      if (operand.get() != value)
        continue;
      int factor = rule.operands[operand.getOperandNumber()][dim];
      if (rule.factors[factor].whole)
        return "";
      for (OpOperand &other : user->getOpOperands())
        for (auto [at, its] : llvm::enumerate(rule.operands[other.getOperandNumber()]))
          if (auto slot = sourceOf(other.get()); its == factor && slot && slot->kind == nn::SlotKind::Param)
            return "`" + splitText(starredName(slot->name), static_cast<int64_t>(at), axes) + "`";
    }
    return "";
  }

  static double valueBytes(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? static_cast<double>(type.getNumElements()) * ((type.getElementTypeBitWidth() + 7) / 8) : 0;
  }

  nn::TrainingStepOp local;
  PlanOp plan;
  MeshOp mesh;
};
} // namespace

SmallVector<PlannedTransfer> transfersOf(nn::TrainingStepOp local, PlanOp plan, MeshOp mesh) {
  return Classifier(local, plan, mesh).run();
}
} // namespace hocket::dist
