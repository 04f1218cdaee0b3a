// Layers to stages, and every other op to the stage of what it uses.
#include "passes/DistToStep/StagePlacement.h"
#include "dialect/Dist/Dist.h"
#include "passes/Schedule/Stages.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::step;

bool hocket::step::isFree(Operation *op) {
  if (isa<nn::ReadOp, dist::OffsetOp>(op))
    return true;
  if (!isPure(op))
    return false;
  return llvm::all_of(op->getOperands(), [](Value value) {
    Operation *def = value.getDefiningOp();
    auto read = dyn_cast_or_null<nn::ReadOp>(def);
    // Numbers that begin makes; tensors that it makes are parameters to compute with.
    return read ? read.getKind() == nn::SlotKind::Value && read.getValue().getType().getRank() == 0
                : def && isFree(def);
  });
}

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

/// The layers in model order, cut into stages.
static LogicalResult cutLayers(Block &microbatch, StagePlacement &placement, Location loc) {
  llvm::SetVector<StringRef> layers;
  std::optional<Location> declared;
  for (Operation &op : microbatch)
    if (StringRef layer = layerOf(nn::getPath(&op)); !layer.empty() && nn::getPhase(&op) == nn::Phase::Forward) {
      layers.insert(layer);
      if (!declared)
        declared = outermostCall(&op);
    }
  for (StringRef layer : layers)
    placement.layers.push_back(layer.str());
  if (placement.stages == 1) {
    placement.layerCounts = {static_cast<uint32_t>(layers.size())};
  } else {
    schedule::Faults faults;
    auto counts = schedule::evenStages(layers.size(), placement.stages, faults);
    if (!counts) {
      for (const schedule::Fault &fault : faults) {
        auto error = emitError(loc) << fault.text;
        for (const std::string &note : fault.notes)
          error.attachNote() << note;
        if (declared)
          error.attachNote(*declared) << "layers are made here";
      }
      return failure();
    }
    placement.layerCounts.assign(counts->begin(), counts->end());
  }
  unsigned next = 0;
  for (auto [stage, count] : llvm::enumerate(placement.layerCounts))
    for (uint32_t i = 0; i < count; ++i)
      placement.stageOfLayer[placement.layers[next++]] = stage;
  return success();
}

/// The stage of an op outside of layers, nothing yet if all its operands are free; see placeStages.
static FailureOr<std::optional<unsigned>> followOperands(Operation *op, const StagePlacement &placement) {
  bool backward = nn::getPhase(op) != nn::Phase::Forward;
  std::optional<unsigned> last, first;
  Operation *lastDef = nullptr;
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    auto it = placement.stageOf.find(def);
    if (it == placement.stageOf.end())
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
    if (auto it = placement.stageOf.find(user); it != placement.stageOf.end())
      first = std::min(first.value_or(it->second), it->second);
  return first.value_or(0);
}

FailureOr<StagePlacement> hocket::step::placeStages(nn::TrainingStepOp step, unsigned stages, Location stagesLoc) {
  StagePlacement placement;
  placement.stages = stages;
  Block &microbatch = step.getMicrobatch().front();
  if (failed(cutLayers(microbatch, placement, stagesLoc)))
    return failure();
  SmallVector<Operation *> open;
  for (Operation &op : microbatch) {
    if (isFree(&op))
      continue;
    auto layer = placement.stageOfLayer.find(layerOf(nn::getPath(&op)));
    if (layer != placement.stageOfLayer.end()) {
      placement.stageOf[&op] = layer->second;
      continue;
    }
    FailureOr<std::optional<unsigned>> stage = followOperands(&op, placement);
    if (failed(stage))
      return failure();
    if (*stage)
      placement.stageOf[&op] = **stage;
    else
      open.push_back(&op);
  }
  for (Operation *op : llvm::reverse(open))
    placement.stageOf[op] = followUsers(op, placement);
  for (Operation &op : microbatch) {
    auto stage = placement.stageOf.find(&op);
    if (auto write = dyn_cast<nn::WriteOp>(op); write && write.getKind() == nn::SlotKind::Accumulator)
      placement.accumulatorStage[write.getName()] = stage->second;
    if (stage == placement.stageOf.end())
      continue;
    for (Value operand : op.getOperands())
      if (auto read = operand.getDefiningOp<nn::ReadOp>(); read && readsParameter(read))
        placement.holders[read.getName()].push_back(stage->second);
  }
  for (auto &entry : placement.holders) {
    llvm::sort(entry.second);
    entry.second.erase(llvm::unique(entry.second), entry.second.end());
  }
  return placement;
}

std::string StagePlacement::describeCut(unsigned stage) const {
  unsigned next = 0;
  for (unsigned s = 0; s <= stage; ++s)
    next += layerCounts[s];
  return "stages are cut between " + layers[next - 1] + " and " + layers[next];
}

SmallVector<std::string> StagePlacement::partsOf(nn::TrainingStepOp step, unsigned stage) const {
  llvm::SetVector<StringRef> parts;
  for (Operation &op : step.getMicrobatch().front()) {
    auto it = stageOf.find(&op);
    if (it == stageOf.end() || it->second != stage || nn::getPhase(&op) != nn::Phase::Forward)
      continue;
    StringRef path = nn::getPath(&op), layer = layerOf(path);
    if (!layer.empty())
      parts.insert(layer);
    else if (!path.empty())
      parts.insert(path.split('#').first);
  }
  return llvm::map_to_vector(parts, [](StringRef part) { return part.str(); });
}
