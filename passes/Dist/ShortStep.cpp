// Finds layers that are alike, and copies a step without most of them.
#include "passes/Dist/ShortStep.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::dist {
namespace {
using Layer = std::pair<StringRef, int64_t>;

std::string layerName(const Layer &layer) { return (layer.first + "." + Twine(layer.second)).str(); }

/// Where an op belongs: its path, or the name of the slot that it speaks of.
StringRef placeOf(Operation *op) {
  if (auto slot = dyn_cast<nn::SlotOp>(op))
    return slot.getName();
  StringRef path = nn::getPath(op);
  if (!path.empty())
    return path;
  if (auto read = dyn_cast<nn::ReadOp>(op))
    return read.getName();
  if (auto write = dyn_cast<nn::WriteOp>(op))
    return write.getName();
  return "";
}

/// What an op is, but for the layer's number: hashed.
llvm::hash_code shapeOf(Operation *op, int region) {
  llvm::hash_code hash = llvm::hash_combine(region, op->getName(), op->getResultTypes(), op->getOperandTypes());
  for (NamedAttribute attribute : op->getAttrs()) {
    auto text = dyn_cast<StringAttr>(attribute.getValue());
    auto layer = text ? layerOf(text.getValue()) : std::nullopt;
    hash = llvm::hash_combine(hash, attribute.getName());
    if (layer) // "h", ".attn.qkv"
      hash = llvm::hash_combine(hash, layer->first, text.getValue().drop_front(layerName(*layer).size()));
    else
      hash = llvm::hash_combine(hash, attribute.getValue());
  }
  op->walk([&](Operation *inner) { hash = llvm::hash_combine(hash, inner->getName()); });
  return hash;
}

struct LayerOps {
  llvm::hash_code hash{0};
  SmallVector<Operation *, 0> ops;
};

class Shortener {
public:
  explicit Shortener(nn::TrainingStepOp step) : step(step) {
    int region = 0;
    for (Region &each : step->getRegions()) {
      for (Operation &op : each.front())
        if (auto layer = layerOf(placeOf(&op))) {
          LayerOps &entry = layers[*layer];
          entry.hash = llvm::hash_combine(entry.hash, shapeOf(&op, region));
          index[&op] = static_cast<int>(entry.ops.size());
          entry.ops.push_back(&op);
        }
      ++region;
    }
    findRuns();
  }

  /// Copies into `module`; false if a value would be used before it is made.
  bool copyInto(ModuleOp module) {
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    Operation *copy = builder.insert(step->cloneWithoutRegions());
    for (auto [from, to] : llvm::zip(step->getRegions(), copy->getRegions())) {
      Block &block = to.emplaceBlock();
      OpBuilder inside = OpBuilder::atBlockEnd(&block);
      for (Operation &op : from.front())
        if (!isDropped(&op) && !copyOp(inside, &op))
          return false;
    }
    return true;
  }

  llvm::StringMap<int64_t> weights;

private:
  struct Run {
    int64_t first, second, last;
  };

  void findRuns() {
    llvm::MapVector<StringRef, SmallVector<int64_t, 0>> numbers;
    for (auto &[layer, ops] : layers)
      numbers[layer.first].push_back(layer.second);
    for (auto &[name, list] : numbers) {
      llvm::sort(list);
      for (size_t begin = 0, end = 0; begin < list.size(); begin = end) {
        for (end = begin + 1; end < list.size() && list[end] == list[end - 1] + 1 &&
                              layers[{name, list[end]}].hash == layers[{name, list[begin]}].hash;)
          ++end;
        if (end - begin < 4)
          continue;
        Run run{list[begin], list[begin + 1], list[end - 1]};
        weights[layerName({name, run.second})] = run.last - run.first - 1;
        for (int64_t number = run.second + 1; number < run.last; ++number)
          dropped[{name, number}] = run;
      }
    }
  }

  bool isDropped(Operation *op) const {
    auto layer = layerOf(placeOf(op));
    return layer && dropped.contains(*layer);
  }

  /// In place of a value of a dropped layer: that of the nearest kept one on the user's side of it.
  Value standIn(Value value, Operation *user) const {
    Operation *maker = value.getDefiningOp();
    auto layer = maker ? layerOf(placeOf(maker)) : std::nullopt;
    auto at = layer ? dropped.find(*layer) : dropped.end();
    if (at == dropped.end())
      return value;
    auto mine = layerOf(placeOf(user));
    bool sameRun = mine && mine->first == layer->first;
    int64_t kept = sameRun && mine->second < layer->second ? at->second.last : at->second.second;
    Operation *other = layers.find({layer->first, kept})->second.ops[index.lookup(maker)];
    return other->getResult(cast<OpResult>(value).getResultNumber());
  }

  bool copyOp(OpBuilder &builder, Operation *op) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(mapping.lookupOrNull(standIn(operand, op)));
      if (!operands.back())
        return false;
    }
    Operation *copy = builder.insert(op->cloneWithoutRegions());
    for (auto [from, to] : llvm::zip(op->getRegions(), copy->getRegions())) {
      IRMapping inner;
      from.cloneInto(&to, inner);
    }
    copy->setOperands(operands);
    mapping.map(op->getResults(), copy->getResults());
    return true;
  }

  nn::TrainingStepOp step;
  llvm::MapVector<Layer, LayerOps> layers;
  llvm::DenseMap<Layer, Run> dropped;
  llvm::DenseMap<Operation *, int> index; ///< of an op among those of its layer
  IRMapping mapping;
};
} // namespace

std::optional<std::pair<StringRef, int64_t>> layerOf(StringRef path) {
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find('.', begin), path.size());
    int64_t number = 0;
    StringRef part = path.slice(begin, end);
    if (begin > 0 && llvm::all_of(part, llvm::isDigit) && !part.getAsInteger(10, number))
      return std::pair(path.take_front(begin - 1), number);
    begin = end + 1;
  }
  return std::nullopt;
}

static OwningOpRef<ModuleOp> surroundings(PlanOp plan, MeshOp mesh) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(plan.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  builder.clone(*mesh);
  builder.clone(*plan);
  return module;
}

ShortStep ShortStep::of(nn::TrainingStepOp step, PlanOp plan, MeshOp mesh, bool shorten) {
  ShortStep result;
  Shortener shortener(step);
  result.module = surroundings(plan, mesh);
  if (shorten && shortener.copyInto(*result.module)) {
    result.weights = std::move(shortener.weights);
    return result;
  }
  result.module = surroundings(plan, mesh);
  OpBuilder::atBlockEnd(result.module->getBody()).clone(*step);
  return result;
}

int64_t ShortStep::weight(StringRef path) const {
  auto layer = layerOf(path);
  auto at = layer ? weights.find(layerName(*layer)) : weights.end();
  return at == weights.end() ? 1 : at->second;
}
} // namespace hocket::dist
