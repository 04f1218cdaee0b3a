// Breadth-first search for the slot that a split came from.
#include "passes/Dist/Origins.h"
#include "llvm/ADT/DenseSet.h"
using namespace mlir;

namespace hocket::dist {

Origin Origins::search(SmallVector<Step> queue, Atom atom) const {
  const StepGraph &graph = propagation.getGraph();
  llvm::DenseSet<std::pair<Node, int>> seen;
  for (const Step &step : queue)
    seen.insert({step.node, step.dim});
  for (size_t i = 0; i < queue.size(); ++i) {
    Step here = queue[i];
    if (nn::SlotOp slot = graph.slotBehind(here.node)) {
      if (Operation *tactic = tacticOf(plan, slot, here.dim, propagation.getAtoms().ref(atom))) {
        Origin origin{tactic, slot, {}};
        for (int at = static_cast<int>(i); at >= 0; at = queue[at].parent)
          if (queue[at].op >= 0)
            origin.through.push_back(graph.ops[queue[at].op].op);
        return origin;
      }
    }
    auto follow = [&](int index, int factor) {
      if (!llvm::is_contained(propagation.factor(index, factor), atom))
        return;
      const StepOp &op = graph.ops[index];
      auto visit = [&](ArrayRef<Node> nodes, ArrayRef<SmallVector<int>> terms) {
        for (auto [node, term] : llvm::zip(nodes, terms))
          for (auto [dim, other] : llvm::enumerate(term))
            if (node >= 0 && other == factor && llvm::is_contained(propagation.wish(node)[dim], atom) &&
                seen.insert({node, static_cast<int>(dim)}).second)
              queue.push_back({node, static_cast<int>(dim), index, static_cast<int>(i)});
      };
      visit(op.operands, op.rule.operands);
      visit(op.results, op.rule.results);
    };
    if (auto across = graph.acrossHandover.find(here.node); across != graph.acrossHandover.end())
      for (Node other : across->second)
        if (llvm::is_contained(propagation.wish(other)[here.dim], atom) && seen.insert({other, here.dim}).second)
          queue.push_back({other, here.dim, -1, static_cast<int>(i)});
    for (auto [op, operand] : graph.uses[here.node])
      follow(op, graph.ops[op].rule.operands[operand][here.dim]);
    for (auto [op, result] : graph.makers[here.node])
      follow(op, graph.ops[op].rule.results[result][here.dim]);
  }
  return {};
}

Origin Origins::ofValue(Node node, int dim, Atom atom) const { return search({Step{node, dim, -1, -1}}, atom); }

Origin Origins::ofFactor(int index, int factor, Atom atom) const {
  const StepOp &op = propagation.getGraph().ops[index];
  SmallVector<Step> queue;
  auto start = [&](ArrayRef<Node> nodes, ArrayRef<SmallVector<int>> terms) {
    for (auto [node, term] : llvm::zip(nodes, terms))
      for (auto [dim, other] : llvm::enumerate(term))
        if (node >= 0 && other == factor && llvm::is_contained(propagation.wish(node)[dim], atom))
          queue.push_back({node, static_cast<int>(dim), -1, -1});
  };
  start(op.operands, op.rule.operands);
  start(op.results, op.rule.results);
  return search(queue, atom);
}

Operation *Origins::tacticOfFactor(int index, int factor, Atom atom) const {
  if (!plan)
    return nullptr;
  const StepGraph &graph = propagation.getGraph();
  AxisRef ref = propagation.getAtoms().ref(atom);
  bool inUpdate = graph.ops[index].region == &nn::TrainingStepOp(graph.step).getUpdate();
  SmallVector<Operation *> candidates;
  for (Operation &tactic : PlanOp(plan).getBody().front())
    if (overlaps(tacticAxes(&tactic), ref) && !isa<StagesOp>(tactic) &&
        (inUpdate ? !isa<BatchOp>(tactic) : !isa<ZeroOp>(tactic)))
      candidates.push_back(&tactic);
  if (candidates.size() == 1)
    return candidates.front();
  return ofFactor(index, factor, atom).tactic;
}
} // namespace hocket::dist
