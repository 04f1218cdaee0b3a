// Finds the sequence by factors, from the inputs on.
#include "passes/Dist/SequenceDimensions.h"
using namespace mlir;

namespace hocket::dist {

int tokensDimension(nn::SlotOp slot) {
  int64_t rank = cast<RankedTensorType>(slot.getType()).getRank();
  return slot.getKind() == nn::SlotKind::Input && rank > 1 ? static_cast<int>(rank) - 1 : -1;
}

SequenceDimensions::SequenceDimensions(const StepGraph &graph) {
  for (auto &[op, node] : graph.slots)
    if (int dim = tokensDimension(cast<nn::SlotOp>(op)); dim >= 0)
      ties.insert({node, dim});
  for (const StepOp &op : graph.ops)
    if (op.region == &nn::TrainingStepOp(graph.step).getMicrobatch())
      tieByFactors(op, ties);
  for (auto &[op, node] : graph.slots)
    if (int dim = tokensDimension(cast<nn::SlotOp>(op)); dim >= 0)
      if (Dimension leader = ties.getLeaderValue({node, dim}); !llvm::is_contained(leaders, leader))
        leaders.push_back(leader);
}

bool SequenceDimensions::contains(Node node, int dim) const {
  auto leader = ties.findLeader({node, dim});
  return leader != ties.member_end() && llvm::is_contained(leaders, *leader);
}

int SequenceDimensions::ofOp(const StepOp &op) const {
  int found = -1;
  bool further = false;
  auto look = [&](ArrayRef<Node> nodes, ArrayRef<SmallVector<int>> terms) {
    for (auto [node, term] : llvm::zip(nodes, terms))
      for (auto [dim, factor] : llvm::enumerate(term))
        if (node >= 0 && !op.rule.factors[factor].whole && (found < 0 || found == factor) &&
            contains(node, static_cast<int>(dim))) {
          found = factor;
          further |= term.size() > 2;
        }
  };
  look(op.operands, op.rule.operands);
  look(op.results, op.rule.results);
  return further ? found : -1;
}
} // namespace hocket::dist
