// See KernelFunction.h.
#include "passes/Codegen/Graph/KernelFunction.h"
#include "dialect/NN/NN.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::codegen {
namespace {
int64_t bytesOf(func::FuncOp kernel) {
  int64_t bytes = 0;
  auto add = [&](TypeRange types) {
    for (Type type : types)
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        bytes += tensor.getNumElements() * llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
  };
  add(kernel.getArgumentTypes());
  add(kernel.getResultTypes());
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
