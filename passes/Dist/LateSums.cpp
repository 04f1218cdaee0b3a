// Sums that are joined behind a route of experts instead of before it. Where the weights of an expert are split (etp),
// its outputs [e b c h] are partial. `combine` adds k of these for each token, so that [b s h] is left, 1 / (k ·
// capacity factor) of them; what meets at the weights, [b s k], is less again. Both are linear in the outputs: the sum
// over ranks may as well come last, and then goes into one reduction with that of a shared expert. Backward it is the
// same: the gradients of what experts were given are summed behind the `combine` that brings them back.
//
// An exchange over the experts' axes that stands in between carries summands instead of sums, which are as many.
#include "passes/Dist/Propagation.h"
using namespace mlir;

namespace hocket::dist {

static bool isRoute(Operation *op) { return isa<nn::DispatchOp, nn::CombineOp, nn::CombineGradOp>(op); }

/// Bits of a shard of `value`, as it is made.
static int64_t shardBits(const Propagation &propagation, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t parts = 1;
  for (const Atoms &list : propagation.natural(value).dims)
    parts *= propagation.getAtoms().size(list);
  return type.getNumElements() / parts * type.getElementTypeBitWidth();
}

Atoms Propagation::sumsForLater(Value value) const {
  Spread made = natural(value);
  if (made.partial.empty() || made.reduction != Reduction::Sum)
    return {};
  int64_t behind = 0;
  for (OpOperand &use : value.getUses()) {
    auto at = graph->opIndex.find(use.getOwner());
    if (!isRoute(use.getOwner()) || at == graph->opIndex.end())
      return {};
    if (graph->ops[at->second].rule.linearity[use.getOperandNumber()] != nn::Linearity::Multi)
      return {};
    llvm::erase_if(made.partial, [&](Atom atom) { return contains(factors[at->second], atom); });
    behind += shardBits(*this, use.getOwner()->getResult(0));
  }
  return behind <= shardBits(*this, value) ? made.partial : Atoms();
}

int Propagation::operandToSumLater(const StepOp &op) const {
  if (!isRoute(op.op) || op.region != &nn::TrainingStepOp(graph->step).getMicrobatch())
    return -1;
  for (OpOperand &operand : op.op->getOpOperands())
    if (!sumsForLater(operand.get()).empty())
      return static_cast<int>(operand.getOperandNumber());
  return -1;
}
} // namespace hocket::dist
