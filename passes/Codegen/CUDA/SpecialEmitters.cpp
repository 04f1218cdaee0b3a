// See SpecialEmitters.h.
#include "passes/Codegen/CUDA/SpecialEmitters.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
using namespace mlir;

namespace hocket::cuda {
int64_t lanesOf(std::initializer_list<int64_t> numbers) {
  int64_t all = 8;
  for (int64_t number : numbers)
    all |= number;
  return all & -all;
}

Type elementOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); }

Launch overThreads(GpuEmit &e, int64_t count, function_ref<void(Value)> body) {
  Launch launch;
  launch.block[0] = 256, launch.grid[0] = llvm::divideCeil(count, 256);
  Value index = e.plus(e.times(e.block(launch.grid[0]), 256), e.thread(256));
  e.when(e.compare(arith::CmpIPredicate::slt, index, e.i64(count)), [&] { body(index); });
  return launch;
}

Launch overWarps(GpuEmit &e, int64_t count, function_ref<void(Value, Value, Value)> body) {
  constexpr int64_t warps = 4;
  Launch launch;
  launch.block[0] = 32 * warps, launch.grid[0] = llvm::divideCeil(count, warps);
  Value thread = e.thread(launch.block[0]), there;
  Value index = e.plus(e.times(e.block(launch.grid[0]), warps), e.over(thread, 32));
  if (count % warps)
    there = e.compare(arith::CmpIPredicate::slt, index, e.i64(count));
  body(e.least(index, e.i64(count - 1)), e.modulo(thread, 32), there);
  return launch;
}

LogicalResult emitSpecial(func::FuncOp kernel, Operation *op, ModuleOp into) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](nn::RopeOp rope) { return emitRope(kernel, rope, into); })
      .Case([&](nn::EmbeddingGradOp grad) { return emitEmbeddingGrad(kernel, grad, into); })
      .Case([&](nn::DispatchOp dispatch) { return emitDispatch(kernel, dispatch, into); })
      .Case([&](nn::CombineOp combine) { return emitCombine(kernel, combine, into); })
      .Case([&](nn::CombineGradOp grad) { return emitCombineGrad(kernel, grad, into); })
      .Case([&](nn::RouterOp router) { return emitRouter(kernel, router, into); })
      .Case([&](nn::RouterGradOp grad) { return emitRouterGrad(kernel, grad, into); })
      .Default([](Operation *other) { return other->emitOpError("has no rule for CUDA"); });
}
} // namespace hocket::cuda
