// One search from all slots at once.
#include "passes/Dist/OriginMap.h"
using namespace mlir;

namespace hocket::dist {

OriginMap::OriginMap(const Propagation &propagation, PlanOp plan) : propagation(propagation), plan(plan) {
  for (Atom atom = 0; atom < propagation.getAtoms().count(); ++atom)
    search(atom);
}

void OriginMap::visit(Place place, const Step &step, SmallVectorImpl<Place> &queue) {
  auto [node, dim, atom] = place;
  if (llvm::is_contained(propagation.wish(node)[dim], atom) && steps.try_emplace(place, step).second)
    queue.push_back(place);
}

/// Parameters and their state all at once, each value from the nearest. Then inputs one after another, so that what the
/// tokens lead to is told by them, and not in part by the labels.
void OriginMap::search(Atom atom) {
  const StepGraph &graph = propagation.getGraph();
  SmallVector<Place> all;
  auto seed = [&](Operation *op, Node node, SmallVectorImpl<Place> &queue) {
    for (int dim = 0; dim < graph.types[node].getRank(); ++dim)
      if (Operation *tactic = tacticOf(plan, cast<nn::SlotOp>(op), dim, propagation.getAtoms().ref(atom)))
        visit({node, dim, atom}, {{}, -1, tactic, true}, queue);
  };
  auto isInput = [](Operation *op) { return cast<nn::SlotOp>(op).getKind() == nn::SlotKind::Input; };
  for (auto &[op, node] : graph.slots)
    if (!isInput(op))
      seed(op, node, all);
  // What a region reads of an accumulator is a node of its own.
  nn::TrainingStepOp(graph.step).walk([&](nn::ReadOp read) {
    Node node = graph.nodes.lookup(read.getValue());
    for (int dim = 0; !graph.isSlot(node) && dim < graph.types[node].getRank(); ++dim)
      if (Place at{graph.slots.lookup(graph.slotOf(read)), dim, atom}; steps.contains(at))
        visit({node, dim, atom}, {at, -1, nullptr, false}, all);
  });
  // What forward ops tie together is told by them, and not by a way through gradients.
  expand(all, atom, /*forwardOnly=*/true);
  for (auto &[op, node] : graph.slots)
    if (isInput(op)) {
      SmallVector<Place> queue;
      seed(op, node, queue);
      expand(queue, atom, /*forwardOnly=*/true);
      all.append(queue);
    }
  expand(all, atom, /*forwardOnly=*/false);
}

/// Goes on from all places of the queue.
void OriginMap::expand(SmallVectorImpl<Place> &queue, Atom atom, bool forwardOnly) {
  const StepGraph &graph = propagation.getGraph();
  nn::TrainingStepOp step = graph.step;
  for (size_t i = 0; i < queue.size(); ++i) {
    Place place = queue[i];
    auto [node, dim, its] = place;
    if (auto across = graph.acrossHandover.find(node); across != graph.acrossHandover.end())
      for (Node other : across->second)
        visit({other, dim, atom}, {place, -1, nullptr, false}, queue);
    auto follow = [&](int index, int factor) {
      if (!llvm::is_contained(propagation.factor(index, factor), atom))
        return;
      const StepOp &op = graph.ops[index];
      if (forwardOnly && (op.region != &step.getMicrobatch() || nn::getPhase(op.op) != nn::Phase::Forward) &&
          op.region != &step.getBegin())
        return;
      auto reach = [&](ArrayRef<Node> nodes, ArrayRef<SmallVector<int>> terms) {
        for (auto [other, term] : llvm::zip(nodes, terms))
          for (auto [at, its] : llvm::enumerate(term))
            if (other >= 0 && its == factor)
              visit({other, static_cast<int>(at), atom}, {place, index, nullptr, false}, queue);
      };
      reach(op.operands, op.rule.operands);
      reach(op.results, op.rule.results);
    };
    for (auto [op, operand] : graph.uses[node])
      follow(op, graph.ops[op].rule.operands[operand][dim]);
    for (auto [op, result] : graph.makers[node])
      follow(op, graph.ops[op].rule.results[result][dim]);
  }
}

Origin OriginMap::of(Node node, int dim, Atom atom) const {
  const StepGraph &graph = propagation.getGraph();
  Origin origin;
  auto at = steps.find({node, dim, atom});
  if (at == steps.end())
    return origin;
  for (; !at->second.start; at = steps.find(at->second.from))
    if (at->second.op >= 0)
      origin.through.push_back(graph.ops[at->second.op].op);
  std::reverse(origin.through.begin(), origin.through.end());
  origin.tactic = at->second.tactic;
  origin.slot = graph.slotAt(std::get<0>(at->first));
  return origin;
}

Origin OriginMap::ofFactor(int index, int factor, Atom atom) const {
  const StepOp &op = propagation.getGraph().ops[index];
  Origin best;
  auto look = [&](ArrayRef<Node> nodes, ArrayRef<SmallVector<int>> terms) {
    for (auto [node, term] : llvm::zip(nodes, terms))
      for (auto [dim, other] : llvm::enumerate(term))
        if (node >= 0 && other == factor) {
          Origin origin = of(node, static_cast<int>(dim), atom);
          if (origin.tactic && (!best.tactic || origin.through.size() < best.through.size()))
            best = origin;
        }
  };
  look(op.operands, op.rule.operands);
  return best;
}
} // namespace hocket::dist
