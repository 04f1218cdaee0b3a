// The recipe's types, casts, and which of them need not be.
#include "passes/NN/Precision.h"
using namespace mlir;

namespace hocket::nn {

Precision::Precision(RecipeOp recipe) {
  f32 = params = compute = accumulate = reduce = Float32Type::get(recipe.getContext());
  auto entry = recipe.entry<PrecisionOp>();
  if (!entry)
    return;
  params = cast<FloatType>(entry.getParams());
  compute = cast<FloatType>(entry.getCompute());
  accumulate = reduce = cast<FloatType>(entry.getAccumulate());
  if (entry.getReduce())
    reduce = cast<FloatType>(*entry.getReduce());
  masters = entry.getMaster() && *entry.getMaster() != params;
}

RankedTensorType Precision::with(RankedTensorType type, FloatType element) {
  return isa<FloatType>(type.getElementType()) ? RankedTensorType::get(type.getShape(), element) : type;
}

Value castTo(OpBuilder &builder, Location loc, Value value, FloatType element, StringRef path, bool summands) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element || !isa<FloatType>(type.getElementType()))
    return value;
  auto made = make<CastOp>(builder, loc, Precision::with(type, element), value, summands);
  setPath(made, path);
  return made.getY();
}

/// True where each operand of a one-result op takes its elements to the result unchanged or added: add, stack.
static bool passesOn(Operation *op) {
  auto factors = dyn_cast<FactorOpInterface>(op);
  return factors && op->getNumResults() == 1 && op->getNumOperands() > 0 && !isa<CastOp>(op) &&
         llvm::all_of(factors.getFactorRule().linearity, [](Linearity each) { return each == Linearity::Joint; });
}

static bool canWiden(Value value, FloatType element) {
  Operation *maker = value.getDefiningOp();
  if (!value.hasOneUse() || !maker)
    return false;
  if (maker->hasTrait<MayWiden>())
    return true;
  return passesOn(maker) && llvm::all_of(maker->getOperands(), [&](Value each) { return canWiden(each, element); });
}

static void widen(Value value, FloatType element) {
  if (!value.getDefiningOp()->hasTrait<MayWiden>())
    for (Value each : value.getDefiningOp()->getOperands())
      widen(each, element);
  value.setType(Precision::with(cast<RankedTensorType>(value.getType()), element));
}

void foldWideningCasts(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<CastOp>())) {
    auto from = cast<FloatType>(op.getX().getType().getElementType());
    auto to = cast<FloatType>(op.getY().getType().getElementType());
    // What was f32 and is so again, as the gradient of a weight that a router reads in f32.
    if (auto narrowed = op.getX().getDefiningOp<CastOp>();
        narrowed && getPhase(op) != Phase::Forward && narrowed.getX().getType() == op.getY().getType()) {
      op.getY().replaceAllUsesWith(narrowed.getX());
      op.erase();
      if (narrowed.getY().use_empty())
        narrowed.erase();
      continue;
    }
    if (to.getWidth() <= from.getWidth() || scalarType(from) != to || !canWiden(op.getX(), to))
      continue;
    widen(op.getX(), to);
    op.getY().replaceAllUsesWith(op.getX());
    op.erase();
  }
}
} // namespace hocket::nn
