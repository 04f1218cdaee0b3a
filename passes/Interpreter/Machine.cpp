// Runs the regions of a training step op by op.
#include "passes/Interpreter/Machine.h"
#include "dialect/NN/Rounding.h"
#include "dialect/NN/Router.h"
#include <cmath>
#include <limits>
using namespace mlir;
using namespace hocket::nn;

namespace hocket::interpreter {

Machine::Machine(TrainingStepOp step, RankGrid grid, const LockstepOps *ops, Precision precision)
    : program(step), grid(std::move(grid)), ops(ops), precision(precision) {}

void Machine::set(const Slot &slot, PerRank value) { slots[slot] = std::make_shared<const PerRank>(std::move(value)); }

const PerRank *Machine::get(const Slot &slot) const {
  auto found = slots.find(slot);
  return found == slots.end() ? nullptr : found->second.get();
}

LogicalResult Machine::read(ReadOp op) {
  auto found = slots.find({op.getKind(), op.getName().str()});
  if (found == slots.end())
    return op.emitError() << "slot '" << op.getName() << "' is read before it is written";
  ArrayRef<int64_t> shape = op.getValue().getType().getShape();
  for (const HostTensor &tensor : *found->second)
    if (ArrayRef<int64_t>(tensor.shape) != shape)
      return op.emitError() << "slot '" << op.getName() << "' holds " << tensor.size()
                            << " elements of another shape than " << op.getValue().getType();
  define(op.getValue(), found->second);
  return success();
}

void Machine::write(WriteOp op) { slots[{op.getKind(), op.getName().str()}] = values.lookup(op.getValue()); }

void Machine::define(Value value, Shared content) {
  if (value.use_empty())
    return;
  values[value] = std::move(content);
  usesLeft[value] = std::distance(value.use_begin(), value.use_end());
}

/// Drops what nobody reads any more, so that memory holds what a step keeps and no more.
void Machine::release(Operation *op) {
  for (Value operand : op->getOperands())
    if (auto left = usesLeft.find(operand); left != usesLeft.end() && --left->second == 0) {
      values.erase(operand);
      usesLeft.erase(left);
    }
}

void round(Precision precision, Type type, HostTensor &tensor) {
  Type element = getElementTypeOrSelf(type);
  if (precision == Precision::Float64 || !isa<FloatType>(element))
    return;
  roundTo(precision == Precision::Declared ? element : Float32Type::get(element.getContext()), tensor);
}

LogicalResult Machine::compute(Operation *op) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  SmallVector<Shared> inputs = llvm::map_to_vector(op->getOperands(), [&](Value v) { return values.lookup(v); });
  std::vector<PerRank> results;
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    results.emplace_back(grid.ranks(), HostTensor(tensor ? tensor.getShape() : ArrayRef<int64_t>(), nan));
  }
  if (auto reference = dyn_cast<ReferenceOpInterface>(op)) {
    for (int64_t rank = 0; rank < grid.ranks(); ++rank) {
      SmallVector<const HostTensor *> operands =
          llvm::map_to_vector(inputs, [&](const Shared &input) { return &(*input)[rank]; });
      SmallVector<HostTensor> local;
      for (PerRank &result : results)
        local.push_back(std::move(result[rank]));
      reference.evaluate(operands, local);
      if (auto router = dyn_cast<RouterOp>(op))
        margin = std::min(margin, nn::routerMargin(*operands[0], router.getTopAttr().getInt()));
      for (auto [result, tensor] : llvm::zip(results, local))
        result[rank] = std::move(tensor);
    }
  } else {
    const LockstepFunction *function = ops ? ops->find(op->getName().getStringRef()) : nullptr;
    if (!function)
      return op->emitError() << "'" << op->getName() << "' has no reference semantics here";
    SmallVector<const PerRank *> operands =
        llvm::map_to_vector(inputs, [](const Shared &input) { return input.get(); });
    if (failed((*function)(op, operands, results, grid)))
      return failure();
  }
  if (auto router = dyn_cast<RouterOp>(op); router && onRouter && getPhase(op) == Phase::Forward)
    if (failed(onRouter(router, *inputs[0], *inputs[1])))
      return failure();
  for (auto [value, content] : llvm::zip(op->getResults(), results)) {
    for (HostTensor &tensor : content)
      round(precision, value.getType(), tensor);
    define(value, std::make_shared<const PerRank>(std::move(content)));
  }
  return success();
}

LogicalResult Machine::execute(Operation *op) {
  for (Value operand : op->getOperands())
    if (!values.contains(operand))
      return op->emitError() << "uses a value that is not made before it in the order of phases";
  LogicalResult result = success();
  if (auto reading = dyn_cast<ReadOp>(op))
    result = read(reading);
  else if (auto writing = dyn_cast<WriteOp>(op))
    write(writing);
  else
    result = compute(op);
  release(op);
  return result;
}

LogicalResult Machine::runPhase(Block &block, Phase phase, bool onlyPhase) {
  for (Operation &op : block)
    if (Phase own = getPhase(&op); !onlyPhase || (own == Phase::Recompute ? Phase::Backward : own) == phase)
      if (failed(execute(&op)))
        return failure();
  return success();
}

LogicalResult Machine::run(Region &region, bool forwardOnly) {
  values.clear();
  usesLeft.clear();
  Block &block = region.front();
  bool phased = &region == &program.getMicrobatch();
  if (!phased)
    return runPhase(block, Phase::Forward, /*onlyPhase=*/false);
  for (Phase phase : {Phase::Forward, Phase::Backward, Phase::WeightGrad}) {
    if (phase != Phase::Forward && forwardOnly)
      break;
    if (failed(runPhase(block, phase, /*onlyPhase=*/true)))
      return failure();
  }
  return success();
}
} // namespace hocket::interpreter
