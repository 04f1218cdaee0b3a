// See DimensionTies.h.
#include "passes/Dist/DimensionTies.h"
using namespace mlir;

namespace hocket::dist {

void tieByFactors(const StepOp &op, DimensionTies &ties) {
  SmallVector<std::optional<Dimension>> first(op.rule.factors.size());
  auto tie = [&](ArrayRef<Node> nodes, ArrayRef<SmallVector<int>> terms) {
    for (auto [node, term] : llvm::zip(nodes, terms))
      for (auto [dim, factor] : llvm::enumerate(term)) {
        if (node < 0)
          continue;
        Dimension dimension{node, static_cast<int>(dim)};
        ties.insert(dimension);
        if (first[factor])
          ties.unionSets(*first[factor], dimension);
        else
          first[factor] = dimension;
      }
  };
  tie(op.operands, op.rule.operands);
  tie(op.results, op.rule.results);
}
} // namespace hocket::dist
