// See SpecialEmitters.h.
#include "passes/Codegen/CPU/SpecialEmitters.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;

namespace hocket::cpu {
Value SpecialKernel::of(Value argument) const {
  size_t buffer = 0, scalar = 0;
  for (Value each : func::FuncOp(kernel).getArguments()) {
    bool tensor = isa<RankedTensorType>(each.getType());
    if (each == argument)
      return tensor ? buffers[buffer] : scalars[scalar];
    ++(tensor ? buffer : scalar);
  }
  return {};
}
Value SpecialKernel::ofResult(Value result) const {
  func::FuncOp function = kernel;
  auto returned = function.getBody().front().getTerminator()->getOperands();
  for (auto [i, each] : llvm::enumerate(returned))
    if (each == result)
      return buffers[buffers.size() - returned.size() + i];
  return {};
}

FailureOr<int64_t> emitSpecial(Emit &emit, const SpecialKernel &kernel, Operation *op, Value begin, Value end) {
  return llvm::TypeSwitch<Operation *, FailureOr<int64_t>>(op)
      .Case([&](nn::RopeOp rope) { return emitRope(emit, kernel, rope, begin, end); })
      .Case([&](nn::EmbeddingGradOp grad) { return emitEmbeddingGrad(emit, kernel, grad, begin, end); })
      .Case([&](nn::RouterOp router) { return emitRouter(emit, kernel, router, begin, end); })
      .Case([&](nn::RouterGradOp grad) { return emitRouterGrad(emit, kernel, grad, begin, end); })
      .Case([&](nn::DispatchOp dispatch) { return emitDispatch(emit, kernel, dispatch, begin, end); })
      .Case([&](nn::CombineOp combine) { return emitCombine(emit, kernel, combine, begin, end); })
      .Case([&](nn::CombineGradOp grad) { return emitCombineGrad(emit, kernel, grad, begin, end); })
      .Case([&](nn::AttentionOp attention) { return emitAttention(emit, kernel, attention, begin, end); })
      .Case([&](nn::AttentionGradOp grad) -> FailureOr<int64_t> {
        for (Value sum : {grad.getDk(), grad.getDv()})
          if (Type element = getElementTypeOrSelf(sum.getType()); !element.isF32())
            return grad.emitOpError("adds up ") << element << ", expected gradients of keys and values in f32";
        return emitAttentionGrad(emit, kernel, grad, begin, end);
      })
      .Default([](Operation *other) { return other->emitOpError("has no rule for the CPU"); });
}
} // namespace hocket::cpu
