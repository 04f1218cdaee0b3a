// Where parameters, optimizer state and gradient accumulators live at rest (Rajbhandari et al. 2020, stages 0 to 3).
#include "passes/Dist/GatherPrice.h"
#include "passes/Dist/SlotShardings.h"
using namespace mlir;

namespace hocket::dist {
namespace {
constexpr int64_t stateBytes = 4; ///< of an element: optimizer state is f32, so what is split depends on no precision

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

/// A parameter in use, and split further over what ZeRO may take of its axes; the same where it takes none.
struct Placement {
  ShardingAttr used, split;
  SmallVector<AxisRef> axes;
};

class StateShardings {
public:
  StateShardings(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, int64_t wholeBelow)
      : step(step), plan(plan), mesh(mesh), wholeBelow(wholeBelow), zero(plan.tactic<ZeroOp>()),
        data(dataAxes(plan, mesh)), meshName(FlatSymbolRefAttr::get(mesh.getSymNameAttr())) {}

  void run() {
    for (auto slot : slots())
      if (slot.getKind() == nn::SlotKind::Param)
        params[slot.getName()] = placeParameter(slot);
    if (zero && zero.splitsParameters() && !zero.getGather())
      zero.setGatherAttr(GatherAttr::get(step.getContext(), splitsAny() ? cheapestGather() : Gather::PerUse));
    for (auto slot : slots())
      place(slot);
  }

private:
  SmallVector<nn::SlotOp> slots() { return llvm::to_vector(step.getSlots().front().getOps<nn::SlotOp>()); }
  bool splitsAny() {
    return llvm::any_of(params, [](auto &entry) { return !entry.second.axes.empty(); });
  }

  Placement placeParameter(nn::SlotOp slot) {
    auto used = cast<ShardingAttr>(slot.getShardingAttr());
    Placement whole{used, used, {}};
    auto type = cast<RankedTensorType>(slot.getType());
    if (!zero || !zero.splitsState() || type.getNumElements() * stateBytes < wholeBelow)
      return whole;
    SmallVector<AxisRef> axes = axesLeft(mesh, zero.getAxes().getRefs(), used);
    int dim = zeroDimension(mesh, type, used, axes);
    if (dim < 0 || axesSize(mesh, axes) == 1)
      return whole;
    SmallVector<AxisRef> all(used.getDims()[dim].axes);
    llvm::append_range(all, axes);
    return {used, used.withDim(dim, all), axes};
  }

  Gather cheapestGather() {
    SmallVector<SplitParameter> split;
    for (auto slot : slots())
      if (slot.getKind() == nn::SlotKind::Param)
        if (const Placement &place = params[slot.getName()]; !place.axes.empty())
          split.push_back({slot, place.used, place.split});
    return chooseGather(step, mesh, split);
  }

  void place(nn::SlotOp slot) {
    auto type = cast<RankedTensorType>(slot.getType());
    auto found = params.find(parameterOf(slot.getName()));
    bool same = found != params.end() && found->second.used.getShardedRank() == type.getRank();
    ShardingAttr whole = ShardingAttr::whole(meshName, type.getRank());
    Placement placement = same ? found->second : Placement{whole, whole, {}};
    bool split = zero && !placement.axes.empty();
    switch (slot.getKind()) {
    case nn::SlotKind::Accumulator:
      return placeAccumulator(slot, placement, split && zero.splitsAccumulators());
    case nn::SlotKind::Param:
      return split && zero.splitsParameters() ? placeSplit(slot, placement) : void();
    case nn::SlotKind::Value: // the copy of a parameter that is computed with
      return same && split && zero.splitsParameters() ? placeCopy(slot, placement) : void();
    case nn::SlotKind::State:
      return slot.setShardingAttr(whole);
    default:
      if (nn::isOptimizerState(slot.getKind()))
        slot.setShardingAttr(placement.split);
    }
  }

  void placeAccumulator(nn::SlotOp slot, const Placement &placement, bool split) {
    SmallVector<AxisRef> partial = axesLeft(mesh, data, split ? placement.split : placement.used);
    slot.setShardingAttr((split ? placement.split : placement.used).withPartial(partial));
    if (split)
      slot.setUseAttr(placement.used);
  }

  void placeSplit(nn::SlotOp slot, const Placement &placement) {
    slot.setShardingAttr(placement.split);
    if (!gathersOnce())
      slot.setUseAttr(placement.used);
    else if (!step.findSlot(nn::SlotKind::Value, slot.getName()))
      gatherInBegin(step, slot, placement.used);
  }

  void placeCopy(nn::SlotOp slot, const Placement &placement) {
    slot.setShardingAttr(gathersOnce() ? placement.used : placement.split);
    if (!gathersOnce())
      slot.setUseAttr(placement.used);
  }

  bool gathersOnce() { return llvm::is_contained({Gather::Once, Gather::OncePartial}, *zero.getGather()); }

  nn::TrainingStepOp step;
  PlanOp plan;
  MeshOp mesh;
  int64_t wholeBelow;
  ZeroOp zero;
  SmallVector<AxisRef> data;
  FlatSymbolRefAttr meshName;
  llvm::StringMap<Placement> params;
};
} // namespace

void gatherInBegin(nn::TrainingStepOp step, nn::SlotOp param, ShardingAttr used) {
  StringRef name = param.getName();
  auto type = cast<RankedTensorType>(param.getType());
  OpBuilder builder = OpBuilder::atBlockEnd(param->getBlock());
  nn::SlotOp::create(builder, param.getLoc(), nn::SlotKind::Value, name, type, nn::InitAttr(), IntegerAttr(), used,
                     Attribute());
  builder.setInsertionPointToEnd(&step.getBegin().front());
  auto read = nn::make<nn::ReadOp>(builder, param.getLoc(), type, nn::SlotKind::Param, name);
  auto write = nn::make<nn::WriteOp>(builder, param.getLoc(), nn::SlotKind::Value, name, read.getValue());
  for (auto use : step.getMicrobatch().front().getOps<nn::ReadOp>()) {
    if (use.getKind() != nn::SlotKind::Param || use.getName() != name)
      continue;
    use.setKind(nn::SlotKind::Value);
    for (Operation *made : {read.getOperation(), write.getOperation()})
      nn::setPath(made, nn::getPath(use));
  }
}

void shardState(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, int64_t wholeBelow) {
  StateShardings(step, plan, mesh, wholeBelow).run();
}
} // namespace hocket::dist
