// See KernelFunction.h.
#include "passes/Codegen/Graph/KernelFunction.h"
#include "dialect/NN/NN.h"
#include "dialect/Step/Step.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::codegen {
namespace {
int64_t bytesOf(Value tensor, int64_t elements) {
  return elements * llvm::divideCeil(cast<RankedTensorType>(tensor.getType()).getElementTypeBitWidth(), 8);
}
int64_t elementsOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getNumElements(); }

/// How many elements of an operand one op reads: of a table as many as it takes from it, of experts' places a row a
/// choice, of a bucket with a place for something else none.
int64_t elementsRead(OpOperand &use) {
  unsigned index = use.getOperandNumber();
  int64_t all = elementsOf(use.get());
  auto rowsOfChoices = [&](Value x, Value slots) {
    return elementsOf(slots) * cast<RankedTensorType>(x.getType()).getShape().back();
  };
  return TypeSwitch<Operation *, int64_t>(use.getOwner())
      .Case([&](nn::EmbeddingOp op) { return index == 1 ? elementsOf(op.getY()) : all; })
      .Case([&](nn::PickOp op) { return index == 0 ? elementsOf(op.getY()) : all; })
      .Case([&](nn::DispatchOp op) { return index == 1 && !op.getWeights() ? 0 : all; }) // by tokens, not by slots
      .Case([&](nn::CombineOp op) {
        return index == 0 ? rowsOfChoices(op.getX(), op.getSlots()) : index == 2 ? 0 : all;
      })
      .Case([&](nn::CombineGradOp op) { return index == 0 ? rowsOfChoices(op.getX(), op.getSlots()) : all; })
      .Case<nn::PartOp, step::PartOp, step::SliceOp>([](auto op) { return elementsOf(op->getResult(0)); })
      .Case([&](step::PlaceOp) { return index == 0 ? all : 0; })
      .Default(all);
}

/// The least that a kernel moves: each operand once, of which as much as is read, and each result.
int64_t bytesOf(func::FuncOp kernel) {
  int64_t bytes = 0;
  for (Value operand : kernel.getArguments()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    int64_t read = 0;
    for (OpOperand &use : operand.getUses())
      read += elementsRead(use);
    bytes += bytesOf(operand, std::min(read, elementsOf(operand)));
  }
  for (Value result : kernel.getBody().front().getTerminator()->getOperands()) {
    auto place = result.getDefiningOp<step::PlaceOp>();
    bytes += bytesOf(result, elementsOf(place ? place.getX() : result));
  }
  return bytes;
}
int64_t flopsOf(func::FuncOp kernel) {
  int64_t flops = 0;
  kernel.walk([&](nn::ReferenceOpInterface op) { flops += op.getFlops(); });
  return flops;
}
} // namespace

bool isKernel(func::FuncOp function) { return function.isPrivate() && !function.isExternal(); }

void noteWork(func::FuncOp kernel) {
  Builder builder(kernel.getContext());
  kernel->setAttr(flopsAttr, builder.getI64IntegerAttr(flopsOf(kernel)));
  kernel->setAttr(bytesAttr, builder.getI64IntegerAttr(bytesOf(kernel)));
}
} // namespace hocket::codegen
