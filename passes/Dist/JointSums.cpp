// Sums of products that are partial over different axes: dq Wq^T over all of tp, dkv Wkv^T over the major half of it,
// where KV heads are repeated on the minor half. Joined one by one they need two reductions of the whole activation.
// Where the second product contracts something that the minor half can share (half of each head for one rank, half for
// the other: a slice of what both hold), both are partial over all of tp and are joined once.
#include "passes/Dist/Propagation.h"
using namespace mlir;

namespace hocket::dist {

/// A factor that op contracts and that `atom` can share without sending anything: its operands are made whole over it,
/// and what is left divides. The last one, so that slices are of the innermost dimension; -1 if there is none.
int Propagation::factorToShare(int index, Atom atom) const {
  const StepOp &op = graph->ops[index];
  if (!isa<nn::LinearOp, nn::MatmulOp>(op.op) || contains(factors[index], atom))
    return -1;
  for (Value operand : op.op->getOperands()) {
    Spread made = natural(operand);
    if (contains(made.dims, atom) || llvm::is_contained(made.partial, atom))
      return -1;
  }
  for (int factor = static_cast<int>(op.rule.factors.size()) - 1; factor >= 0; --factor) {
    bool contracted = llvm::all_of(op.rule.operands, [&](auto &term) { return llvm::is_contained(term, factor); }) &&
                      !llvm::is_contained(op.rule.results[0], factor);
    int64_t size = op.rule.factors[factor].size;
    if (contracted && factors[index][factor].empty() && size % atoms.size(atom) == 0)
      return factor;
  }
  return -1;
}

void Propagation::joinSums(ArrayRef<int> ops) {
  for (int index : ops) {
    const StepOp &op = graph->ops[index];
    if (!isa<nn::AddOp>(op.op) || op.region != &nn::TrainingStepOp(graph->step).getMicrobatch() ||
        !llvm::all_of(op.rule.linearity, [](nn::Linearity each) { return each == nn::Linearity::Joint; }))
      continue;
    // What an accumulator waits for (a sequence that is split) is found where the gradient is made, not taken from it.
    if (llvm::any_of(op.op->getOperands(), [](Value value) { return isa<nn::ReadOp>(value.getDefiningOp()); }))
      continue;
    for (auto [from, to] : {std::pair(0, 1), std::pair(1, 0)}) {
      Value left = op.op->getOperand(from), right = op.op->getOperand(to);
      auto maker = graph->opIndex.find(right.getDefiningOp());
      if (!left.hasOneUse() || !right.hasOneUse() || maker == graph->opIndex.end())
        continue;
      Spread here = natural(left), there = natural(right);
      for (Atom atom : here.partial) {
        bool splits = contains(there.dims, atom) || llvm::is_contained(there.partial, atom) || there.partial.empty();
        int factor = splits ? -1 : factorToShare(maker->second, atom);
        if (factor < 0)
          continue;
        factors[maker->second][factor].push_back(atom);
        shared[{maker->second, factor}] = 1;
      }
    }
    passed[index] = staysPartial(op);
  }
}
} // namespace hocket::dist
