// Reverse-mode differentiation of a straight line of nn ops.
#include "passes/NN/Autodiff.h"
#include "llvm/ADT/BitVector.h"
using namespace mlir;

namespace hocket::nn {

ReverseMode::ReverseMode(OpBuilder &builder, ArrayRef<Value> leaves, llvm::function_ref<void(Value, Value)> onLeaf)
    : builder(builder), leaves(leaves.begin(), leaves.end()), varied(leaves.begin(), leaves.end()), onLeaf(onLeaf) {}

void ReverseMode::contribute(Value value, Value gradient, Location loc) {
  if (!leaves.contains(value))
    activationGradients.push_back(gradient);
  Value &sum = gradients[value];
  if (!sum) {
    sum = gradient;
    return;
  }
  sum = make<AddOp>(builder, loc, value.getType(), sum, gradient);
  if (!leaves.contains(value))
    activationGradients.push_back(sum);
}

/// Adds what `op` contributes to the gradients of its operands.
LogicalResult ReverseMode::visit(Operation *op) {
  SmallVector<Value> resultGrads;
  for (Value result : op->getResults())
    resultGrads.push_back(gradients.lookup(result));
  BitVector needed(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands())
    needed[operand.getOperandNumber()] = varied.contains(operand.get());
  if (needed.none() || llvm::none_of(resultGrads, [](Value grad) { return bool(grad); }))
    return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitOpError() << "has no derivative, and a gradient must pass through it to a parameter";
  SmallVector<Value> operandGrads(op->getNumOperands());
  Operation *before =
      builder.getInsertionPoint() == builder.getBlock()->begin() ? nullptr : &*std::prev(builder.getInsertionPoint());
  // The op may be gone afterwards: what is said of it is taken before.
  SmallVector<Value> operands(op->getOperands());
  std::string path = getPath(op).str();
  Location loc = op->getLoc();
  OperationName name = op->getName();
  differentiable.buildGradient(builder, resultGrads, needed, operandGrads);
  // Latest use first, within one op too.
  for (size_t i = operands.size(); i-- > 0;) {
    Value grad = operandGrads[i];
    if (!grad || !needed[static_cast<unsigned>(i)])
      continue;
    if (grad.getType() != operands[i].getType())
      return emitError(loc) << "'" << name << "' op has a derivative of type " << grad.getType() << " for operand " << i
                            << " of type " << operands[i].getType();
    contribute(operands[i], grad, loc);
  }
  Block::iterator made = before ? std::next(before->getIterator()) : builder.getBlock()->begin();
  for (; made != builder.getInsertionPoint(); ++made)
    setPath(&*made, path);
  return success();
}

/// Sets phases of all ops behind `lastForward` and takes away what nobody uses.
void ReverseMode::finishPhases(Operation *lastForward) {
  llvm::DenseSet<Operation *> backward;
  SmallVector<Value> open(activationGradients);
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != lastForward->getBlock() || !lastForward->isBeforeInBlock(op) ||
        !backward.insert(op).second)
      continue;
    llvm::append_range(open, op->getOperands());
  }
  Block &block = *lastForward->getBlock();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (&op == lastForward)
      break;
    if (isOpTriviallyDead(&op))
      op.erase();
    else
      setPhase(&op, backward.contains(&op) ? Phase::Backward : Phase::WeightGrad);
  }
}

LogicalResult ReverseMode::run(ArrayRef<Operation *> ops) {
  if (ops.empty())
    return success();
  for (Operation *op : ops)
    if (llvm::any_of(op->getOperands(), [&](Value operand) { return varied.contains(operand); }))
      varied.insert(op->result_begin(), op->result_end());
  for (Operation *op : llvm::reverse(ops)) {
    for (Value result : op->getResults())
      if (Value gradient = gradients.lookup(result); gradient && leaves.contains(result))
        onLeaf(result, gradient);
    if (failed(visit(op)))
      return failure();
  }
  finishPhases(ops.back());
  return success();
}
} // namespace hocket::nn
