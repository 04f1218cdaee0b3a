// See RemadeValues.h.
#include "passes/Dist/RemadeValues.h"
#include "dialect/Dist/FreeValues.h"
#include "passes/Dist/LeastKept.h"
#include "passes/Dist/StepCost.h"
#include "llvm/ADT/MapVector.h"
using namespace mlir;

namespace hocket::dist {

static bool isForward(Operation *op) { return nn::getPhase(op) == nn::Phase::Forward; }

static int64_t bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8) : 0;
}

/// True if `value` comes of parameters alone: read, cast, gathered, masked.
static bool isParameter(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast<nn::ReadOp>(op))
    return read.getKind() == nn::SlotKind::Param ||
           (read.getKind() == nn::SlotKind::Value && read.getValue().getType().getRank() > 0);
  return op->getNumOperands() > 0 && llvm::all_of(op->getOperands(), isParameter);
}

/// A product has an index of two operands that no result has: its work is more than its bytes.
///   linear x[b s h], w[h f] -> [b s f]: yes, h      add, layer_norm, gelu, sum: no      embedding t[b s], w[v h]: no
static bool isProduct(nn::FactorOpInterface op) {
  nn::FactorRule rule = op.getFactorRule();
  for (int factor = 0; factor < static_cast<int>(rule.factors.size()); ++factor) {
    auto has = [&](ArrayRef<int> term) { return llvm::is_contained(term, factor); };
    if (llvm::none_of(rule.results, has) && llvm::count_if(rule.operands, has) > 1)
      return true;
  }
  return false;
}

bool RemadeValues::isCheap(Operation *op) const {
  if (isa<SliceOp, MaskOp>(op))
    return true;
  auto factors = dyn_cast<nn::FactorOpInterface>(op);
  return factors && !collectiveAxes(op) && !(isProduct(factors) && llvm::any_of(op->getOperands(), isParameter));
}

RemadeValues::RemadeValues(nn::TrainingStepOp step, const RecomputeUnits &units) : units(units) {
  Block &block = step.getMicrobatch().front();
  findTwins(block);
  chooseFull(block);
  chooseSelective(block);
}

/// What an op does, but for where it stands and why.
static DictionaryAttr meaning(Operation *op) {
  NamedAttrList all(op->getAttrDictionary());
  for (StringRef placement : {"path", "phase", "cause"})
    all.erase(placement);
  return all.getDictionary(op->getContext());
}

void RemadeValues::findTwins(Block &block) {
  for (Operation &op : block) {
    if (isForward(&op) || !isa<DistDialect>(op.getDialect()) || !op.getNumOperands())
      continue;
    for (Operation *other : op.getOperand(0).getUsers())
      if (isForward(other) && other->getName() == op.getName() && other->getOperands() == op.getOperands() &&
          meaning(other) == meaning(&op))
        twins.try_emplace(other, &op);
  }
}

bool RemadeValues::isOnlyUsedIn(Value value, StringRef unit) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    const RecomputeUnits::Unit *other = units.of(user);
    return other && other->name == unit;
  });
}

void RemadeValues::chooseFull(Block &block) {
  for (Operation &op : block) {
    const RecomputeUnits::Unit *unit = units.of(&op);
    if (!unit || unit->kind() != Recompute::Full || !isForward(&op) || isFree(&op))
      continue;
    for (Value result : op.getResults())
      if (isOnlyUsedIn(result, unit->name))
        remade.insert(result);
  }
}

namespace {
/// The values of one layer as a graph to cut.
struct LayerValues {
  const RemadeValues &chosen;
  const llvm::SetVector<Operation *> &cheap;
  std::string layer;
  LeastKept cut;
  llvm::MapVector<Value, LeastKept::Node> nodes;

  bool leavesLayer(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) { return RecomputeUnits::layer(user) != layer; });
  }
  LeastKept::Node node(Value value) {
    if (auto known = nodes.find(value); known != nodes.end())
      return known->second;
    LeastKept::Node made = cut.add(bytesOf(value));
    nodes.insert({value, made});
    Operation *op = value.getDefiningOp();
    if (llvm::any_of(value.getUsers(), [](Operation *user) { return !isForward(user); }))
      cut.isRead(made);
    if (chosen.twin(op) || (cheap.contains(op) && !leavesLayer(value))) {
      for (Value operand : op->getOperands())
        if (!isFree(operand.getDefiningOp()))
          cut.makes(node(operand), made);
    } else if (!chosen.contains(value)) {
      cut.cannotBeMade(made);
    }
    return made;
  }
};
} // namespace

void RemadeValues::chooseSelective(Block &block) {
  llvm::MapVector<StringRef, llvm::SetVector<Operation *>> layers;
  llvm::StringSet<> names;
  for (Operation &op : block)
    if (const RecomputeUnits::Unit *unit = units.of(&op);
        unit && unit->kind() == Recompute::Selective && isForward(&op) && !isFree(&op) && isCheap(&op))
      layers[names.insert(RecomputeUnits::layer(&op)).first->first()].insert(&op);
  for (auto &[layer, cheap] : layers) {
    LayerValues values{*this, cheap, layer.str(), {}, {}};
    for (Operation *op : cheap)
      for (Value result : op->getResults())
        values.node(result);
    SmallVector<bool> again = values.cut.solve();
    for (auto &[value, node] : values.nodes)
      if (again[node] && cheap.contains(value.getDefiningOp()))
        remade.insert(value);
  }
}
} // namespace hocket::dist
