// The derivative of a manual region: the transposed region, built by each op's own derivative, or the one written by
// hand.
#include "dialect/Dist/LocalTypes.h"
#include "dialect/NN/ScalarGradient.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
using namespace mlir;
using namespace hocket::dist;
namespace nn = hocket::nn;

void ConvertOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                              MutableArrayRef<Value> operandGrads) {
  if (!resultGrads[0] || !needed[0])
    return;
  LocalTypeAttr from = gradientType(getTo()), to = gradientType(getFrom());
  Transfer by = *transferBetween(from.getAxes().front(), to.getAxes().front());
  operandGrads[0] = ConvertOp::create(builder, getLoc(), getX().getType(), resultGrads[0], getAxisAttr(), from, to, by);
}

namespace {
/// Puts the derivative of a region behind its ops, in a copy of it; then cuts the copy: what the derivative uses of the
/// region becomes kept results of the one and operands of the other.
class Transposition {
public:
  Transposition(LocalOp op, ValueRange resultGrads, const BitVector &needed)
      : op(op), resultGrads(resultGrads), needed(needed) {}
  /// The gradients, by operand. Replaces `op`.
  SmallVector<Value> build(OpBuilder &builder);

private:
  void addGradients();
  void contribute(OpBuilder &builder, Value value, Value gradient);
  void visit(OpBuilder &builder, Operation *each);
  void collectKept();
  LocalOp rebuildForward();
  LocalOp makeBackward(OpBuilder &builder, LocalOp forward, SmallVectorImpl<unsigned> &which);

  LocalOp op;
  ValueRange resultGrads;
  const BitVector &needed;
  Operation *lastForward = nullptr;
  DenseMap<Value, Value> gradients;
  llvm::DenseSet<Value> varied;
  SmallVector<BlockArgument> seeds; ///< the region's new arguments: gradients of results
  llvm::SetVector<Value> kept;      ///< made in the forward, used in the derivative
};
} // namespace

void Transposition::contribute(OpBuilder &builder, Value value, Value gradient) {
  Value &sum = gradients[value];
  sum = sum ? nn::make<nn::AddOp>(builder, gradient.getLoc(), value.getType(), sum, gradient).getResult() : gradient;
}

void Transposition::visit(OpBuilder &builder, Operation *each) {
  SmallVector<Value> results = llvm::map_to_vector(each->getResults(), [&](Value v) { return gradients.lookup(v); });
  llvm::BitVector wanted(each->getNumOperands());
  for (OpOperand &operand : each->getOpOperands())
    wanted[operand.getOperandNumber()] = varied.contains(operand.get());
  auto differentiable = dyn_cast<nn::DifferentiableOpInterface>(each);
  if (!differentiable || wanted.none() || llvm::none_of(results, [](Value v) { return bool(v); }))
    return;
  SmallVector<Value> operands(each->operand_begin(), each->operand_end()), grads(each->getNumOperands());
  differentiable.buildGradient(builder, results, wanted, grads); // may replace and erase `each`
  for (size_t i = operands.size(); i-- > 0;)
    if (grads[i] && wanted[static_cast<unsigned>(i)])
      contribute(builder, operands[i], grads[i]);
}

/// Derivatives of all ops, from the last to the first, behind the last of them.
void Transposition::addGradients() {
  Block &block = op.getBody().front();
  for (auto [i, argument] : llvm::enumerate(block.getArguments()))
    if (needed[static_cast<unsigned>(i)] && hasGradient(argument.getType()))
      varied.insert(argument);
  SmallVector<Operation *> forward;
  for (Operation &each : block.without_terminator()) {
    forward.push_back(&each);
    if (llvm::any_of(each.getOperands(), [&](Value operand) { return varied.contains(operand); }))
      varied.insert(each.result_begin(), each.result_end());
  }
  auto last = cast<nn::ReturnOp>(block.getTerminator());
  OpBuilder builder(last);
  // A mark between the two: ops that keep more for their derivative are replaced, the last one too.
  lastForward = OffsetOp::create(
      builder, op.getLoc(), builder.getI64Type(), builder.getI64IntegerAttr(1),
      AxesAttr::get(op.getContext(), AxisRef{StringAttr::get(op.getContext(), op.axis(0).getName())}), IntegerAttr());
  for (auto [i, value] : llvm::enumerate(last.getValues()))
    if (resultGrads[i]) {
      seeds.push_back(block.addArgument(value.getType(), value.getLoc()));
      contribute(builder, value, seeds.back());
    } else {
      seeds.push_back({});
    }
  for (Operation *each : llvm::reverse(forward))
    visit(builder, each);
}

void Transposition::collectKept() {
  Block &block = op.getBody().front();
  for (Operation &each : llvm::make_early_inc_range(llvm::reverse(block.without_terminator()))) {
    if (&each == lastForward)
      break;
    bool used = !each.use_empty() || llvm::any_of(each.getResults(), [&](Value result) {
      return llvm::any_of(gradients,
                          [&](auto &entry) { return entry.second == result && isa<BlockArgument>(entry.first); });
    });
    if (!used)
      each.erase();
  }
  for (Operation *each = lastForward->getNextNode(); each && !isa<nn::ReturnOp>(each); each = each->getNextNode())
    for (Value operand : each->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && maker->isBeforeInBlock(lastForward) && isa<RankedTensorType>(operand.getType()))
        kept.insert(operand);
}

static Attribute typeAttr(LocalTyping &typing, Value value) {
  return LocalTypeAttr::get(value.getContext(), *typing.of(value));
}

/// The region as it was, with what is kept as further results.
LocalOp Transposition::rebuildForward() {
  LocalTyping typing(op, op.getBody());
  SmallVector<LocalTypeAttr> arguments = bodyArguments(op);
  for (auto [seed, types] : llvm::zip(seeds, op.getResultTypesAttr().getAsRange<LocalTypeAttr>()))
    if (seed)
      arguments.push_back(gradientType(types));
  typing.run(arguments, /*report=*/false);
  OpBuilder builder(op);
  SmallVector<Type> types(op->getResultTypes());
  SmallVector<Attribute> locals(op.getResultTypesAttr().getValue());
  for (Value value : kept) {
    types.push_back(globalTypeOf(op.getAxes(), cast<RankedTensorType>(value.getType()), *typing.of(value)));
    locals.push_back(typeAttr(typing, value));
  }
  auto forward = LocalOp::create(
      builder, op.getLoc(), types, op.getXs(), op.getAxes(), op.getArgTypes(), builder.getArrayAttr(locals),
      builder.getI64IntegerAttr(static_cast<int64_t>(kept.size())), op.getPathAttr(), op.getPhaseAttr(), ArrayAttr());
  Block &from = op.getBody().front(), &to = forward.getBody().emplaceBlock();
  IRMapping map;
  for (BlockArgument argument : from.getArguments().take_front(op.getXs().size()))
    map.map(argument, to.addArgument(argument.getType(), argument.getLoc()));
  OpBuilder inner = OpBuilder::atBlockEnd(&to);
  for (Operation &each : from) {
    if (&each == lastForward)
      break;
    inner.clone(each, map);
  }
  SmallVector<Value> returned(from.getTerminator()->getOperands());
  returned.append(kept.begin(), kept.end());
  for (Value &value : returned)
    value = map.lookup(value);
  nn::ReturnOp::create(inner, op.getLoc(), returned);
  return forward;
}

/// The derivative as a region of its own; `which`: the operands whose gradients it returns.
LocalOp Transposition::makeBackward(OpBuilder &builder, LocalOp forward, SmallVectorImpl<unsigned> &which) {
  Block &from = op.getBody().front();
  SmallVector<Value> operands, inside; // outside and inside values of what goes in
  SmallVector<Attribute> locals, results;
  // Only what the derivative uses: an operand beside it would tie down how the region may be split.
  auto isUsed = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return lastForward->isBeforeInBlock(user) && !isa<nn::ReturnOp>(user);
    });
  };
  for (auto [i, x] : llvm::enumerate(op.getXs())) {
    BlockArgument argument = from.getArgument(static_cast<unsigned>(i));
    if (!isUsed(argument))
      continue;
    operands.push_back(x);
    inside.push_back(argument);
    locals.push_back(op.getArgTypes()[i]);
  }
  for (auto [i, value] : llvm::enumerate(kept)) {
    operands.push_back(forward.getResult(static_cast<unsigned>(op.getNumResults() + i)));
    inside.push_back(value);
    locals.push_back(forward.getResultTypesAttr()[op.getNumResults() + i]);
  }
  for (auto [i, seed] : llvm::enumerate(seeds))
    if (seed) {
      operands.push_back(resultGrads[i]);
      inside.push_back(seed);
      locals.push_back(gradientType(cast<LocalTypeAttr>(op.getResultTypesAttr()[i])));
    }
  SmallVector<Type> types;
  SmallVector<Value> returned;
  for (unsigned i = 0; i < op.getXs().size(); ++i)
    if (Value gradient = gradients.lookup(from.getArgument(i)); gradient && needed[i]) {
      which.push_back(i);
      returned.push_back(gradient);
      types.push_back(op.getXs()[i].getType());
      results.push_back(gradientType(cast<LocalTypeAttr>(op.getArgTypes()[i])));
    }
  auto backward = LocalOp::create(builder, op.getLoc(), types, operands, op.getAxes(), builder.getArrayAttr(locals),
                                  builder.getArrayAttr(results), builder.getI64IntegerAttr(0), op.getPathAttr(),
                                  nn::PhaseAttr(), ArrayAttr());
  Block &to = backward.getBody().emplaceBlock();
  IRMapping map;
  for (Value value : inside)
    map.map(value, to.addArgument(value.getType(), value.getLoc()));
  OpBuilder inner = OpBuilder::atBlockEnd(&to);
  // Offsets are numbers, no tensors: made again.
  for (Operation *each = &from.front(); each != lastForward; each = each->getNextNode())
    if (isa<OffsetOp>(each))
      inner.clone(*each, map);
  for (Operation *each = lastForward->getNextNode(); !isa<nn::ReturnOp>(each); each = each->getNextNode())
    inner.clone(*each, map);
  for (Value &value : returned)
    value = map.lookup(value);
  nn::ReturnOp::create(inner, op.getLoc(), returned);
  return backward;
}

SmallVector<Value> Transposition::build(OpBuilder &builder) {
  addGradients();
  collectKept();
  LocalOp forward = rebuildForward();
  SmallVector<unsigned> which;
  LocalOp backward = makeBackward(builder, forward, which);
  SmallVector<Value> all(op.getXs().size());
  for (auto [result, i] : llvm::zip(backward.getResults(), which))
    all[i] = result;
  op->replaceAllUsesWith(forward->getResults().take_front(op->getNumResults()));
  op->erase();
  return all;
}

/// Takes away operands that the region does not use.
static void dropUnused(LocalOp region) {
  SmallVector<Attribute> types;
  llvm::BitVector unused(region.getBody().getNumArguments());
  for (BlockArgument argument : region.getBody().getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
    else
      types.push_back(region.getArgTypes()[argument.getArgNumber()]);
  region.getBody().front().eraseArguments(unused);
  region->eraseOperands(unused);
  region.setArgTypesAttr(ArrayAttr::get(region.getContext(), types));
}

/// The backward that was written by hand, as a region of its own.
static SmallVector<Value> byHand(LocalOp op, OpBuilder &builder, ValueRange resultGrads) {
  SmallVector<Value> operands(op.getXs());
  SmallVector<Attribute> locals, results;
  for (LocalTypeAttr types : backwardArguments(op))
    locals.push_back(types);
  for (auto [i, y] : llvm::enumerate(op.getYs())) {
    if (!hasGradient(y.getType()))
      continue;
    Value gradient = resultGrads[i];
    if (!gradient)
      gradient = nn::buildZeros(builder, op.getLoc(), y);
    operands.push_back(gradient);
  }
  SmallVector<Type> types;
  SmallVector<unsigned> which;
  for (auto [i, x] : llvm::enumerate(op.getXs()))
    if (hasGradient(x.getType())) {
      which.push_back(static_cast<unsigned>(i));
      types.push_back(x.getType());
      results.push_back(gradientType(cast<LocalTypeAttr>(op.getArgTypes()[i])));
    }
  auto backward = LocalOp::create(builder, op.getLoc(), types, operands, op.getAxes(), builder.getArrayAttr(locals),
                                  builder.getArrayAttr(results), builder.getI64IntegerAttr(0), op.getPathAttr(),
                                  nn::PhaseAttr(), ArrayAttr());
  backward.getBody().takeBody(op.getBackward());
  dropUnused(backward);
  SmallVector<Value> all(op.getXs().size());
  for (auto [result, i] : llvm::zip(backward.getResults(), which))
    all[i] = result;
  return all;
}

void LocalOp::buildGradient(OpBuilder &builder, ValueRange resultGrads, const BitVector &needed,
                            MutableArrayRef<Value> operandGrads) {
  if (llvm::none_of(resultGrads, [](Value grad) { return bool(grad); }))
    return;
  SmallVector<Value> all = getBackward().empty() ? Transposition(*this, resultGrads, needed).build(builder)
                                                 : byHand(*this, builder, resultGrads);
  for (size_t i = 0; i < all.size(); ++i)
    if (needed[static_cast<unsigned>(i)])
      operandGrads[i] = all[i];
}
