// Where optimizer state and gradient accumulators live (Rajbhandari et al. 2020, stages 0 and 1).
#include "passes/Dist/SlotShardings.h"
using namespace mlir;

namespace hocket::dist {
namespace {
int64_t bytesOf(RankedTensorType type) {
  return llvm::divideCeil(type.getNumElements() * type.getElementTypeBitWidth(), int64_t(8));
}

/// The dimension along which ZeRO splits over `axes`: the first that they divide, of what the other splits leave; else
/// the largest (then the last ranks' shards are shorter). -1 for a value without dimensions.
int zeroDimension(MeshOp mesh, RankedTensorType type, ShardingAttr sharding, ArrayRef<AxisRef> axes) {
  int64_t ranks = axesSize(mesh, axes), largest = -1;
  for (int dim = 0; dim < type.getRank(); ++dim) {
    ArrayRef<AxisRef> before = sharding.getDims()[dim].axes;
    if (!isUneven(mesh, type.getDimSize(dim), before) && localSize(mesh, type.getDimSize(dim), before) % ranks == 0)
      return dim;
    if (largest < 0 ||
        localSize(mesh, type.getDimSize(dim), before) >
            localSize(mesh, type.getDimSize(static_cast<unsigned>(largest)), sharding.getDims()[largest].axes))
      largest = dim;
  }
  return static_cast<int>(largest);
}

SmallVector<AxisRef> axesLeft(MeshOp mesh, ArrayRef<AxisRef> axes, ShardingAttr taken) {
  SmallVector<AxisRef> left;
  for (const AxisRef &ref : axes) {
    int64_t whole = mesh.getAxisSize(ref.name), begin = ref.pre, end = begin * axisSize(mesh, ref);
    SmallVector<AxisRef> used;
    for (const DimSharding &dim : taken.getDims())
      llvm::copy_if(dim.axes, std::back_inserter(used), [&](const AxisRef &other) { return other.name == ref.name; });
    llvm::sort(used, [](const AxisRef &a, const AxisRef &b) { return a.pre < b.pre; });
    auto keep = [&](int64_t from, int64_t to) {
      if (from < to)
        left.push_back(to / from == whole ? AxisRef{ref.name} : AxisRef{ref.name, from, to / from});
    };
    for (const AxisRef &other : used) {
      keep(begin, std::min(other.pre, end));
      begin = std::max(begin, other.pre * axisSize(mesh, other));
    }
    keep(begin, end);
  }
  return left;
}

ShardingAttr momentSharding(MeshOp mesh, RankedTensorType type, ShardingAttr param, ZeroOp zero, int64_t wholeBelow) {
  if (!zero || zero.getStage() == 0 || bytesOf(type) < wholeBelow || axesSize(mesh, zero.getAxes().getRefs()) == 1)
    return param;
  SmallVector<AxisRef> left = axesLeft(mesh, zero.getAxes().getRefs(), param);
  int dim = zeroDimension(mesh, type, param, left);
  if (dim < 0 || axesSize(mesh, left) == 1)
    return param;
  SmallVector<AxisRef> axes(param.getDims()[dim].axes);
  axes.append(left);
  return param.withDim(dim, axes);
}

SmallVector<AxisRef> axesWithRanks(MeshOp mesh, ArrayRef<AxisRef> axes) {
  SmallVector<AxisRef> list;
  llvm::copy_if(axes, std::back_inserter(list), [&](const AxisRef &ref) { return axisSize(mesh, ref) > 1; });
  return list;
}
} // namespace

void shardState(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, int64_t wholeBelow) {
  auto batch = plan.tactic<BatchOp>();
  auto zero = plan.tactic<ZeroOp>();
  SmallVector<AxisRef> data = axesWithRanks(mesh, batch ? tacticAxes(batch) : ArrayRef<AxisRef>());
  auto meshName = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
  llvm::StringMap<nn::SlotOp> params;
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>())
    if (slot.getKind() == nn::SlotKind::Param)
      params[slot.getName()] = slot;
  for (auto slot : step.getSlots().front().getOps<nn::SlotOp>()) {
    auto type = cast<RankedTensorType>(slot.getType());
    nn::SlotOp param = params.lookup(parameterOf(slot.getName()));
    auto sharding = param ? dyn_cast_or_null<ShardingAttr>(param.getShardingAttr()) : ShardingAttr();
    if (!sharding || cast<RankedTensorType>(param.getType()).getRank() != type.getRank())
      sharding = ShardingAttr::whole(meshName, type.getRank());
    if (slot.getKind() == nn::SlotKind::Accumulator)
      slot.setShardingAttr(sharding.withPartial(axesLeft(mesh, data, sharding)));
    else if (nn::isOptimizerState(slot.getKind()))
      slot.setShardingAttr(momentSharding(mesh, type, sharding, zero, wholeBelow));
    else if (slot.getKind() == nn::SlotKind::State)
      slot.setShardingAttr(ShardingAttr::whole(meshName, type.getRank()));
  }
}
} // namespace hocket::dist
