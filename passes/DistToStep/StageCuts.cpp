// Even, by cost or as the plan says.
#include "passes/DistToStep/StageCuts.h"
#include "passes/Schedule/Stages.h"
#include "llvm/Support/FormatVariadic.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

static double costOf(Operation *op) {
  auto known = dyn_cast<nn::ReferenceOpInterface>(op);
  if (!known)
    return 0;
  double bytes = 0;
  auto add = [&](Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && type.hasStaticShape())
      bytes += double(type.getNumElements()) * type.getElementTypeBitWidth() / 8;
  };
  llvm::for_each(op->getOperands(), add);
  llvm::for_each(op->getResults(), add);
  return std::max(double(known.getFlops()), flopsPerByte * bytes);
}

SmallVector<double> hocket::step::layerCosts(nn::TrainingStepOp step, const StagePlacement &placement) {
  SmallVector<double> costs(placement.layers.size(), 0);
  StagePlacement alone; // one virtual stage a layer
  alone.chunks = placement.layers.size();
  for (auto [i, layer] : llvm::enumerate(placement.layers)) {
    alone.virtualStageOfLayer[layer] = i;
    alone.places.push_back({0, static_cast<uint16_t>(i)});
  }
  // An op that no cut lets lie on one stage is told when the real cut is made, if that cuts it.
  ScopedDiagnosticHandler silent(step.getContext(), [](Diagnostic &) { return success(); });
  Block &microbatch = step.getMicrobatch().front();
  (void)placeOps(microbatch, alone);
  for (Operation &op : microbatch)
    if (auto it = alone.virtualStageOf.find(&op); it != alone.virtualStageOf.end())
      costs[it->second] += costOf(&op);
  return costs;
}

FailureOr<SmallVector<uint32_t>> hocket::step::cutLayers(nn::TrainingStepOp step, const StagePlacement &placement,
                                                         Location loc, dist::StagesOp tactic) {
  uint32_t layers = placement.layers.size(), pieces = placement.virtualStages();
  schedule::Faults faults;
  std::optional<std::vector<uint32_t>> counts;
  if (tactic && tactic.getCuts()) {
    ArrayRef<int64_t> cuts = *tactic.getCuts();
    counts.emplace(cuts.begin(), cuts.end());
    if (cuts.size() != pieces)
      faults.push_back(
          {llvm::formatv("cuts name {0} pieces, {1} stage{2} of {3} chunk{4} have {5}", cuts.size(), placement.stages,
                         placement.stages == 1 ? "" : "s", placement.chunks, placement.chunks == 1 ? "" : "s", pieces)
               .str(),
           {}});
    schedule::checkStages(layers, *counts, faults);
  } else if (pieces == 1) {
    return SmallVector<uint32_t>{layers};
  } else if (placement.chunks > 1 && layers &&
             !schedule::checkPieces(layers, placement.stages, placement.chunks, faults)) {
    // told
  } else if (tactic && tactic.getBalanced()) {
    SmallVector<double> costs = layerCosts(step, placement);
    std::vector<uint32_t> places;
    for (schedule::Place place : placement.places)
      places.push_back(place.stage);
    counts = schedule::balancedStages({costs.begin(), costs.end()}, places, faults);
  } else {
    counts = schedule::evenStages(layers, pieces, faults);
  }
  for (const schedule::Fault &fault : faults) {
    auto error = emitError(loc) << fault.text;
    for (const std::string &note : fault.notes)
      error.attachNote() << note;
    if (!placement.layerLocs.empty())
      error.attachNote(placement.layerLocs.front()) << "layers are made here";
  }
  if (!faults.empty())
    return failure();
  return SmallVector<uint32_t>(counts->begin(), counts->end());
}
