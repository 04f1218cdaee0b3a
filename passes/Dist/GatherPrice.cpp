// Prices by formula, before anything is partitioned.
#include "passes/Dist/GatherPrice.h"
#include "llvm/ADT/StringMap.h"
using namespace mlir;

namespace hocket::dist {
namespace {
int64_t bytesOf(MeshOp mesh, Type type, ShardingAttr sharding) {
  RankedTensorType local = localType(mesh, cast<RankedTensorType>(type), sharding);
  return llvm::divideCeil(local.getNumElements() * local.getElementTypeBitWidth(), int64_t(8));
}

/// What the ways differ in, over all split parameters.
struct Sums {
  int64_t shards = 0, whole = 0;          ///< bytes of parameters at rest and in use
  int64_t forward = 0, backward = 0;      ///< bytes gathered in a microbatch, by use
  int64_t layer = 0;                      ///< most bytes that the ops of one layer use
  int64_t scattered = 0;                  ///< bytes of gradients, by use
  int64_t splitSums = 0, partialSums = 0; ///< bytes of accumulators
};

Sums sumUp(nn::TrainingStepOp step, MeshOp mesh, ArrayRef<SplitParameter> params) {
  Sums sums;
  llvm::StringMap<const SplitParameter *> byName;
  for (const SplitParameter &param : params) {
    byName[nn::SlotOp(param.slot).getName()] = &param;
    sums.shards += bytesOf(mesh, nn::SlotOp(param.slot).getType(), param.split);
    sums.whole += bytesOf(mesh, nn::SlotOp(param.slot).getType(), param.used);
  }
  llvm::StringMap<int64_t> layers;
  for (auto read : step.getMicrobatch().front().getOps<nn::ReadOp>()) {
    bool uses = llvm::is_contained({nn::SlotKind::Param, nn::SlotKind::Value}, read.getKind());
    auto found = byName.find(parameterOf(read.getName()));
    if (found == byName.end())
      continue;
    const SplitParameter &param = *found->second;
    int64_t bytes = bytesOf(mesh, read.getValue().getType(), param.used);
    if (read.getKind() == nn::SlotKind::Accumulator) {
      sums.scattered += bytes;
      sums.partialSums += bytes;
      sums.splitSums += bytesOf(mesh, read.getValue().getType(), param.split);
    } else if (uses) {
      bool again = llvm::any_of(read.getValue().getUsers(),
                                [](Operation *user) { return nn::getPhase(user) != nn::Phase::Forward; });
      sums.forward += bytes;
      sums.backward += again ? bytes : 0;
      layers[nn::getPath(read)] += bytes;
    }
  }
  for (auto &layer : layers)
    sums.layer = std::max(sums.layer, layer.second);
  return sums;
}
} // namespace

SmallVector<GatherPrice> gatherPrices(nn::TrainingStepOp step, MeshOp mesh, int64_t stages,
                                      ArrayRef<SplitParameter> params) {
  Sums sums = sumUp(step, mesh, params);
  int64_t m = static_cast<int64_t>(step.getMicrobatches());
  int64_t inFlight = std::min(m, stages), base = sums.shards / stages;
  return {{Gather::PerUse, m * (sums.forward + sums.backward + sums.scattered),
           base + sums.layer + sums.splitSums / stages},
          {Gather::Kept, m * (sums.forward + sums.scattered),
           base + inFlight * sums.forward / stages + sums.splitSums / stages},
          {Gather::Once, sums.whole + m * sums.scattered, base + (sums.whole + sums.splitSums) / stages},
          {Gather::OncePartial, sums.whole + sums.scattered, base + (sums.whole + sums.partialSums) / stages}};
}

Gather chooseGather(nn::TrainingStepOp step, MeshOp mesh, ArrayRef<SplitParameter> params) {
  PlanOp plan = planOf(step);
  auto tactic = plan.tactic<StagesOp>();
  int64_t stages = tactic ? axesSize(mesh, tactic.getAxes().getRefs()) : 1;
  GatherPrice best{Gather::PerUse, 0, 0};
  double least = 0;
  std::string prices;
  for (const GatherPrice &price : gatherPrices(step, mesh, stages, params)) {
    double product = double(price.wireBytes) * double(price.memoryBytes);
    if (least == 0 || product < least)
      best = price, least = product;
    prices += (prices.empty() ? "" : ", ") + stringifyGather(price.gather).str() + " sends " +
              std::to_string(price.wireBytes) + " bytes and holds " + std::to_string(price.memoryBytes);
  }
  plan.tactic<ZeroOp>().emitRemark() << "gathers parameters " << stringifyGather(best.gather)
                                     << ", the least product: " << prices;
  return best.gather;
}
} // namespace hocket::dist
