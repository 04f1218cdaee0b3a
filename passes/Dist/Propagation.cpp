// The fixed point, and what follows from it for values and uses.
#include "passes/Dist/Propagation.h"
#include "passes/Dist/LocalRegions.h"
#include "passes/Dist/SequenceDimensions.h"
#include "passes/Dist/Tactics.h"
using namespace mlir;

namespace hocket::dist {

static ShardingAttr shardingOf(nn::SlotOp slot) { return dyn_cast_or_null<ShardingAttr>(slot.getShardingAttr()); }

static ShardingAttr useOf(nn::SlotOp slot) { return dyn_cast_or_null<ShardingAttr>(slot.getUseAttr()); }

FailureOr<Propagation> Propagation::run(const StepGraph &graph, MeshOp mesh) {
  return run(graph, mesh, nn::TrainingStepOp(graph.step).getPlanAttr() ? planOf(graph.step) : PlanOp(), {});
}

FailureOr<Propagation> Propagation::run(const StepGraph &graph, MeshOp mesh, PlanOp plan, ArrayRef<AxisRef> cuts) {
  SmallVector<AxisRef> refs(cuts);
  for (auto &[slot, node] : graph.slots)
    if (ShardingAttr sharding = shardingOf(cast<nn::SlotOp>(slot))) {
      collectRefs(sharding, refs);
      if (ShardingAttr use = useOf(cast<nn::SlotOp>(slot)))
        collectRefs(use, refs);
    }
  FailureOr<AxisAtoms> atoms = AxisAtoms::create(mesh, refs, graph.step);
  if (failed(atoms) || failed(checkLocalRegions(graph, mesh)))
    return failure();
  Propagation result(graph, std::move(*atoms));
  result.start();
  result.closeAttention(plan);
  SmallVector<int> before, update;
  for (auto [i, op] : llvm::enumerate(graph.ops))
    (op.region == &nn::TrainingStepOp(graph.step).getUpdate() ? update : before).push_back(static_cast<int>(i));
  result.settle(before);
  result.startInputs();
  result.settle(before);
  if (SmallVector<AxisRef> more = result.cutsForHeads(plan); cuts.empty() && !more.empty())
    return run(graph, mesh, plan, more);
  if (failed(result.splitHeads(plan)))
    return failure();
  result.joinSums(before);
  result.splitSequences(plan, before);
  result.settle(before);
  result.findPartials(before);
  result.fixed.set(0, static_cast<unsigned>(graph.slots.size()));
  // In `update` sums of accumulators are found first: they are joined as one, so no split over those axes goes through
  // them.
  result.findPartials(update);
  result.settle(update);
  return result;
}

/// Slots with a sharding, and all that hold state but parameters and what begin hands on, are fixed.
void Propagation::start() {
  size_t count = graph->types.size();
  fixed.resize(static_cast<unsigned>(count));
  reserve.resize(count);
  passed.resize(graph->ops.size());
  for (RankedTensorType type : graph->types)
    wishes.emplace_back(type.getRank());
  for (const StepOp &op : graph->ops) {
    factors.emplace_back(op.rule.factors.size());
    owned.push_back(ownAtoms(atoms, op.op));
  }
  for (auto &[op, node] : graph->slots) {
    auto slot = cast<nn::SlotOp>(op);
    ShardingAttr sharding = shardingOf(slot);
    if (sharding && slot.getKind() != nn::SlotKind::Input)
      wishes[node] = atoms.dimsOf(sharding);
    if (sharding || !llvm::is_contained({nn::SlotKind::Param, nn::SlotKind::Value}, slot.getKind()))
      fixed.set(static_cast<unsigned>(node));
  }
  for (auto &[value, node] : graph->nodes)
    if (auto slot = value.getDefiningOp() ? graph->slotOf(value.getDefiningOp()) : nn::SlotOp();
        slot && !graph->isSlot(node)) {
      ShardingAttr use = useOf(slot);
      bool accumulates = slot.getKind() == nn::SlotKind::Accumulator;
      wishes[node] = use && !accumulates ? atoms.dimsOf(use) : wishes[graph->slots.lookup(slot)];
      if (use && accumulates)
        boundSums(node, use);
      if (ShardingAttr sharding = shardingOf(slot))
        reserve[node] = atoms.partialOf(sharding);
      fixed.set(static_cast<unsigned>(node));
    }
}

void Propagation::startInputs() {
  for (auto &[op, node] : graph->slots)
    if (auto slot = cast<nn::SlotOp>(op); slot.getKind() == nn::SlotKind::Input)
      if (ShardingAttr sharding = shardingOf(slot))
        wishes[node] = atoms.dimsOf(sharding);
}

void Propagation::boundSums(Node accumulator, ShardingAttr use) {
  AtomDims dims = atoms.dimsOf(use);
  for (auto [index, operand] : graph->uses[accumulator]) {
    const StepOp &op = graph->ops[index];
    if (op.region != &nn::TrainingStepOp(graph->step).getMicrobatch())
      continue;
    AtomDims &bound = bounds.try_emplace(index, op.rule.factors.size()).first->second;
    for (auto [dim, factor] : llvm::enumerate(op.rule.operands[operand]))
      bound[factor] = dims[dim];
  }
}

void Propagation::settle(ArrayRef<int> ops) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int op : ops)
      changed |= visit(op);
    for (int op : llvm::reverse(ops))
      changed |= visit(op);
    for (auto [value, slot] : graph->handovers)
      for (size_t dim = 0; dim < wishes[slot].size(); ++dim)
        changed |= llvm::is_contained({extend(slot, static_cast<int>(dim), Atoms(wishes[value][dim])),
                                       extend(value, static_cast<int>(dim), Atoms(wishes[slot][dim]))},
                                      true);
  }
}

bool Propagation::visit(int index) {
  const StepOp &op = graph->ops[index];
  bool changed = false;
  auto each = [&](ArrayRef<Node> nodes, ArrayRef<SmallVector<int>> terms, auto act) {
    for (auto [node, term] : llvm::zip(nodes, terms))
      if (node >= 0)
        for (auto [dim, factor] : llvm::enumerate(term))
          act(node, static_cast<int>(dim), factor);
  };
  auto take = [&](Node node, int dim, int factor) { changed |= takeOver(index, factor, wishes[node][dim]); };
  auto own = [&](int factor) { return ArrayRef(factors[index][factor]).drop_back(shared.lookup({index, factor})); };
  auto give = [&](Node node, int dim, int factor) { changed |= extend(node, dim, own(factor)); };
  auto bound = bounds.find(index);
  auto giveBounded = [&](Node node, int dim, int factor) {
    ArrayRef<Atom> list = own(factor);
    if (bound != bounds.end())
      list = list.take_while([&](Atom atom) { return llvm::is_contained(bound->second[factor], atom); });
    changed |= extend(node, dim, list);
  };
  each(op.operands, op.rule.operands, take);
  each(op.results, op.rule.results, take);
  each(op.operands, op.rule.operands, giveBounded);
  each(op.results, op.rule.results, give);
  if (isa<LocalOp>(op.op))
    changed |= giveOwn(op);
  return changed;
}

/// A manual region's values are split over its axes as it says.
bool Propagation::giveOwn(const StepOp &op) {
  bool changed = false;
  auto give = [&](Node node, const OwnSplit &own) {
    for (auto [dim, list] : llvm::enumerate(own.dims))
      changed |= extend(node, static_cast<int>(dim), list);
  };
  for (OpOperand &operand : op.op->getOpOperands())
    if (Node node = op.operands[operand.getOperandNumber()]; node >= 0)
      give(node, ownSplit(atoms, operand));
  for (OpResult result : op.op->getResults())
    give(op.results[result.getResultNumber()], ownSplit(atoms, result));
  return changed;
}

bool Propagation::takeOver(int op, int factor, ArrayRef<Atom> wish) {
  Atoms &now = factors[op][factor];
  if (graph->ops[op].rule.factors[factor].whole || wish.size() <= now.size() || !isPrefix(now, wish))
    return false;
  bool changed = false;
  for (Atom atom : wish.drop_front(now.size())) {
    if (contains(factors[op], atom) || llvm::is_contained(passed[op], atom) || llvm::is_contained(owned[op], atom) ||
        isClosed(op, factor, atom))
      break;
    now.push_back(atom);
    changed = true;
  }
  return changed;
}

bool Propagation::extend(Node node, int dim, ArrayRef<Atom> list) {
  Atoms &now = wishes[node][dim];
  if (list.size() <= now.size() || !isPrefix(now, list))
    return false;
  bool changed = false;
  for (Atom atom : list.drop_front(now.size())) {
    bool allowed = !fixed.test(static_cast<unsigned>(node)) || llvm::is_contained(reserve[node], atom);
    if (!allowed || contains(wishes[node], atom))
      break;
    now.push_back(atom);
    changed = true;
  }
  return changed;
}

/// Results are visited in program order, so that what operands are partial over is known.
void Propagation::findPartials(ArrayRef<int> ops) {
  for (int op : ops) {
    passed[op] = staysPartial(graph->ops[op]);
    if (int later = operandToSumLater(graph->ops[op]); later >= 0) {
      passed[op] = sumsForLater(graph->ops[op].op->getOperand(static_cast<unsigned>(later)));
      summedLater[op] = later;
    }
  }
}

Atoms Propagation::staysPartial(const StepOp &op) const {
  nn::TrainingStepOp step = graph->step;
  bool scalar = graph->types[op.results.front()].getRank() == 0;
  if (op.region != &step.getMicrobatch() && (scalar || op.region != &step.getUpdate()))
    return {};
  std::optional<Atoms> common;
  int joint = 0;
  for (auto [i, linearity] : llvm::enumerate(op.rule.linearity)) {
    if (linearity != nn::Linearity::Joint)
      continue;
    Value operand = op.op->getOperand(static_cast<unsigned>(i));
    Spread made = natural(operand);
    if (!operand.hasOneUse() || made.reduction != Reduction::Sum)
      return {};
    ++joint;
    if (!common)
      common = made.partial;
    else
      llvm::erase_if(*common, [&](Atom atom) { return !llvm::is_contained(made.partial, atom); });
  }
  bool unary = op.op->getNumOperands() == 1 && op.op->getNumResults() == 1; // a cast of summands
  if (joint < 2 && !(joint == 1 && unary))
    return {};
  llvm::erase_if(*common, [&](Atom atom) { return contains(factors[graph->opIndex.lookup(op.op)], atom); });
  return *common;
}

Spread Propagation::atRest(nn::SlotOp slot) const {
  Spread spread{wishes[graph->slots.lookup(slot)], {}};
  if (ShardingAttr sharding = shardingOf(slot)) {
    spread.partial = atoms.partialOf(sharding);
    spread.reduction = sharding.getReduction();
  }
  return spread;
}

static Reduction reductionOf(nn::ReductionKind kind) {
  switch (kind) {
  case nn::ReductionKind::Sum:
    return Reduction::Sum;
  case nn::ReductionKind::Max:
    return Reduction::Max;
  case nn::ReductionKind::Min:
    return Reduction::Min;
  }
  return Reduction::Sum;
}

static void addOwn(Spread &spread, const OwnSplit &own) {
  for (auto [dim, list] : llvm::enumerate(own.dims))
    spread.dims[dim].insert(spread.dims[dim].begin(), list.begin(), list.end());
  llvm::append_range(spread.partial, own.partial);
}

Spread Propagation::natural(Value value) const {
  Operation *maker = value.getDefiningOp();
  if (nn::SlotOp slot = graph->slotOf(maker))
    return atRest(slot);
  int index = graph->opIndex.lookup(maker);
  const StepOp &op = graph->ops[index];
  const auto &term = op.rule.results[cast<OpResult>(value).getResultNumber()];
  Spread spread;
  for (int factor : term)
    spread.dims.push_back(factors[index][factor]);
  for (auto [factor, list] : llvm::enumerate(factors[index]))
    if (!llvm::is_contained(term, static_cast<int>(factor)))
      spread.partial.append(list.begin(), list.end());
  if (!spread.partial.empty())
    spread.reduction = reductionOf(op.rule.reduction);
  spread.partial.append(passed[index].begin(), passed[index].end());
  addOwn(spread, ownSplit(atoms, cast<OpResult>(value)));
  llvm::sort(spread.partial);
  return spread;
}

Spread Propagation::need(OpOperand &operand) const {
  if (nn::SlotOp slot = graph->slotOf(operand.getOwner()))
    return atRest(slot);
  int index = graph->opIndex.lookup(operand.getOwner());
  const StepOp &op = graph->ops[index];
  Spread spread;
  for (int factor : op.rule.operands[operand.getOperandNumber()])
    spread.dims.push_back(factors[index][factor]);
  auto later = summedLater.find(index);
  bool passes = op.rule.linearity[operand.getOperandNumber()] == nn::Linearity::Joint;
  if (passes || (later != summedLater.end() && later->second == static_cast<int>(operand.getOperandNumber()))) {
    spread.partial = passed[index];
    llvm::sort(spread.partial);
  }
  addOwn(spread, ownSplit(atoms, operand));
  return spread;
}

/// What a value wishes and an op on it does not do.
SmallVector<Obstacle> Propagation::obstacles() const {
  SmallVector<Obstacle> found;
  auto check = [&](int op, Node node, int dim, int factor) {
    ArrayRef<Atom> wish = wishes[node][dim], have = factors[op][factor];
    if (isPrefix(wish, have))
      return;
    bool whole = graph->ops[op].rule.factors[factor].whole;
    size_t first = 0;
    while (first < have.size() && first < wish.size() && have[first] == wish[first])
      ++first;
    Atom atom = wish[first];
    int other = factor;
    for (auto [i, list] : llvm::enumerate(factors[op]))
      if (llvm::is_contained(list, atom))
        other = static_cast<int>(i);
    found.push_back({op, factor, whole, other, atom, node, dim});
  };
  for (auto [index, op] : llvm::enumerate(graph->ops)) {
    if (isa<LocalOp>(op.op)) // it is split as it says
      continue;
    for (auto [node, term] : llvm::zip(op.operands, op.rule.operands))
      for (auto [dim, factor] : llvm::enumerate(term))
        if (node >= 0)
          check(static_cast<int>(index), node, static_cast<int>(dim), factor);
    for (auto [node, term] : llvm::zip(op.results, op.rule.results))
      for (auto [dim, factor] : llvm::enumerate(term))
        check(static_cast<int>(index), node, static_cast<int>(dim), factor);
  }
  return found;
}
} // namespace hocket::dist
