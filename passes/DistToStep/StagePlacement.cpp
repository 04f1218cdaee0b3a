// Layers to stages, and every other op to the stage of what it uses.
#include "passes/DistToStep/StagePlacement.h"
#include "passes/DistToStep/StageCuts.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

/// A parameter as it is kept, or as begin has cast it to compute with.
static bool readsParameter(nn::ReadOp read) {
  return read.getKind() == nn::SlotKind::Param ||
         (read.getKind() == nn::SlotKind::Value && read.getValue().getType().getRank() > 0);
}

/// Where the user wrote the layer that `op` came from: the outermost call.
static Location outermostCall(Operation *op) {
  Location loc = op->getLoc();
  if (auto name = dyn_cast<NameLoc>(loc))
    loc = name.getChildLoc();
  while (auto call = dyn_cast<CallSiteLoc>(loc))
    loc = call.getCaller();
  return loc;
}

/// The layers in model order.
static void findLayers(Block &microbatch, StagePlacement &placement) {
  llvm::SetVector<StringRef> layers;
  for (Operation &op : microbatch)
    if (StringRef layer = layerOf(nn::getPath(&op)); !layer.empty() && nn::getPhase(&op) == nn::Phase::Forward)
      if (layers.insert(layer))
        placement.layerLocs.push_back(outermostCall(&op));
  for (StringRef layer : layers)
    placement.layers.push_back(layer.str());
}

/// Gives virtual stages their layers, in model order.
static void spread(ArrayRef<uint32_t> counts, StagePlacement &placement) {
  placement.layerCounts.assign(counts.begin(), counts.end());
  unsigned next = 0;
  for (auto [stage, count] : llvm::enumerate(counts))
    for (uint32_t i = 0; i < count; ++i)
      placement.virtualStageOfLayer[placement.layers[next++]] = stage;
}

/// The stage of an op outside of layers, nothing yet if all its operands are free; see placeStages.
static FailureOr<std::optional<unsigned>> followOperands(Operation *op, const StagePlacement &placement) {
  // What is made again has its place as it had in forward.
  bool backward = nn::getPhase(op) != nn::Phase::Forward && nn::getPhase(op) != nn::Phase::Recompute;
  std::optional<unsigned> last, first;
  Operation *lastDef = nullptr;
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    auto it = placement.virtualStageOf.find(def);
    if (it == placement.virtualStageOf.end())
      continue;
    if (backward && nn::getPhase(def) != nn::Phase::Forward) {
      first = std::min(first.value_or(it->second), it->second);
      continue;
    }
    if (backward && last && *last != it->second) {
      auto error = op->emitError() << "uses forward values of stages " << *last << " and " << it->second
                                   << "; the backward of one op must lie on one stage";
      error.attachNote(lastDef->getLoc()) << "made on stage " << *last;
      error.attachNote(def->getLoc()) << "made on stage " << it->second;
      return failure();
    }
    last = std::max(last.value_or(0), it->second);
    lastDef = def;
  }
  return last ? last : first;
}

/// The first stage that uses what an op makes of free values alone (a table looked up by tokens, a masked parameter).
static unsigned followUsers(Operation *op, const StagePlacement &placement) {
  std::optional<unsigned> first;
  for (Operation *user : op->getUsers())
    if (auto it = placement.virtualStageOf.find(user); it != placement.virtualStageOf.end())
      first = std::min(first.value_or(it->second), it->second);
  return first.value_or(0);
}

LogicalResult hocket::step::placeOps(Block &microbatch, StagePlacement &placement) {
  SmallVector<Operation *> open;
  for (Operation &op : microbatch) {
    if (isFree(&op))
      continue;
    auto layer = placement.virtualStageOfLayer.find(layerOf(nn::getPath(&op)));
    if (layer != placement.virtualStageOfLayer.end()) {
      placement.virtualStageOf[&op] = layer->second;
      continue;
    }
    FailureOr<std::optional<unsigned>> stage = followOperands(&op, placement);
    if (failed(stage))
      return failure();
    if (*stage)
      placement.virtualStageOf[&op] = **stage;
    else
      open.push_back(&op);
  }
  for (Operation *op : llvm::reverse(open))
    placement.virtualStageOf[op] = followUsers(op, placement);
  return success();
}

FailureOr<StagePlacement> hocket::step::placeStages(nn::TrainingStepOp step, const schedule::Problem &problem,
                                                    Location stagesLoc, dist::StagesOp tactic) {
  StagePlacement placement;
  placement.stages = problem.stages;
  placement.chunks = problem.chunks;
  for (unsigned k = 0; k < problem.virtualStages(); ++k)
    placement.places.push_back(problem.place(k));
  Block &microbatch = step.getMicrobatch().front();
  findLayers(microbatch, placement);
  auto counts = cutLayers(step, placement, stagesLoc, tactic);
  if (failed(counts))
    return failure();
  spread(*counts, placement);
  if (failed(placeOps(microbatch, placement)))
    return failure();
  for (Operation &op : microbatch) {
    auto stage = placement.virtualStageOf.find(&op);
    if (auto write = dyn_cast<nn::WriteOp>(op); write && write.getKind() == nn::SlotKind::Accumulator)
      placement.accumulatorStage[write.getName()] = placement.places[stage->second].stage;
    if (stage == placement.virtualStageOf.end())
      continue;
    for (Value operand : op.getOperands())
      if (auto read = operand.getDefiningOp<nn::ReadOp>(); read && readsParameter(read))
        placement.holders[read.getName()].push_back(placement.places[stage->second].stage);
  }
  for (auto &entry : placement.holders) {
    llvm::sort(entry.second);
    entry.second.erase(llvm::unique(entry.second), entry.second.end());
  }
  return placement;
}

unsigned StagePlacement::virtualStage(unsigned stage, unsigned chunk) const {
  schedule::Place place{stage, static_cast<uint16_t>(chunk)};
  unsigned usual = chunk * stages + stage; // asked for each op of the model: most placements need no search
  return usual < places.size() && places[usual] == place ? usual : llvm::find(places, place) - places.begin();
}

std::optional<Location> StagePlacement::locOf(unsigned virtualStage) const {
  unsigned first = 0;
  for (unsigned k = 0; k < virtualStage && k < layerCounts.size(); ++k)
    first += layerCounts[k];
  return first < layerLocs.size() ? std::optional(layerLocs[first]) : std::nullopt;
}

schedule::Problem StagePlacement::problem() const {
  schedule::Problem problem;
  problem.stages = stages;
  problem.chunks = chunks;
  problem.placement.assign(places.begin(), places.end());
  return problem;
}

std::string StagePlacement::describeCut(unsigned virtualStage) const {
  unsigned next = 0;
  for (unsigned k = 0; k <= virtualStage; ++k)
    next += layerCounts[k];
  return "stages are cut between " + layers[next - 1] + " and " + layers[next];
}

SmallVector<std::string> StagePlacement::partsOf(nn::TrainingStepOp step, unsigned stage) const {
  llvm::SetVector<StringRef> parts;
  for (Operation &op : step.getMicrobatch().front()) {
    auto it = virtualStageOf.find(&op);
    if (it == virtualStageOf.end() || places[it->second].stage != stage || nn::getPhase(&op) != nn::Phase::Forward)
      continue;
    StringRef path = nn::getPath(&op), layer = layerOf(path);
    if (!layer.empty())
      parts.insert(layer);
    else if (!path.empty())
      parts.insert(path.split('#').first);
  }
  return llvm::map_to_vector(parts, [](StringRef part) { return part.str(); });
}
