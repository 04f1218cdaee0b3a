// See InPlace.h.
#include "passes/Codegen/Fusion/InPlace.h"
#include "passes/Codegen/Fusion/KernelShape.h"
#include "llvm/ADT/SmallPtrSet.h"
using namespace mlir;
using namespace hocket::nn;

namespace hocket::codegen {
namespace {
class InPlace {
public:
  explicit InPlace(func::FuncOp kernel) : kernel(kernel) {
    SmallVector<Operation *> ops;
    for (Operation &op : kernel.getBody().front().without_terminator())
      ops.push_back(&op);
    shape = kernelShape(ops);
    for (Operation *op : ops) // what waits for a reduction of the row reads its operands in a later loop
      if (roleOf(op) == Role::Rows || llvm::any_of(op->getOperands(), [&](Value operand) {
            return operand.getDefiningOp() && late.contains(operand.getDefiningOp());
          }))
        late.insert(op);
  }
  bool allowed(Value result, BlockArgument argument) {
    if (result.getType() != argument.getType() || !result.getDefiningOp())
      return false;
    if (auto place = result.getDefiningOp<step::PlaceOp>())
      return argument == place.getBucket();
    if (!shape)
      return allowedAlone(result, argument);
    if (roleOf(result.getDefiningOp()) == Role::Spread)
      return false;
    Space space = shape->spaces.lookup(result);
    return llvm::all_of(argument.getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isa<func::ReturnOp>(user) || roleOf(user) != Role::Element)
        return false;
      std::optional<Space> read = operandSpace(user, use.getOperandNumber(), *shape);
      return read == space && (space != Space::Full || !late.contains(user));
    });
  }

private:
  static bool allowedAlone(Value result, BlockArgument argument) {
    if (!argument.hasOneUse())
      return false;
    Operation *user = *argument.getUsers().begin();
    if (auto rope = dyn_cast<RopeOp>(user)) // both elements of a pair are read, then written
      return rope.getX() == argument;
    auto add = dyn_cast<AddOp>(user); // the accumulator of an embedding's gradient
    return add && add.getY() == result;
  }
  func::FuncOp kernel;
  std::optional<KernelShape> shape;
  llvm::SmallPtrSet<Operation *, 16> late;
};
} // namespace

SmallVector<int64_t> placesInside(func::FuncOp kernel) {
  InPlace inPlace(kernel);
  SmallVector<int64_t> pairs;
  for (auto [i, result] : llvm::enumerate(kernel.getBody().front().getTerminator()->getOperands()))
    for (BlockArgument argument : kernel.getArguments())
      if (isa<RankedTensorType>(argument.getType()) && inPlace.allowed(result, argument))
        pairs.append({static_cast<int64_t>(i), static_cast<int64_t>(argument.getArgNumber())});
  return pairs;
}
} // namespace hocket::codegen
