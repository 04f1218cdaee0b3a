// Kernels that are no graph over rows and columns.
#pragma once
#include "dialect/Step/Step.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Codegen/CPU/CpuEmit.h"

namespace hocket::cpu {
/// A kernel function and the buffers of its tensors (then of its results) and its i64 numbers.
struct SpecialKernel {
  mlir::func::FuncOp kernel;
  llvm::SmallVector<mlir::Value> buffers, scalars;

  /// The buffer (or number) of an argument of the kernel.
  mlir::Value of(mlir::Value argument) const;
  /// The buffer of a returned value.
  mlir::Value ofResult(mlir::Value result) const;
};

/// Emits the tiles [begin, end) of a kernel whose main op is `op`; returns how many tiles there are.
mlir::FailureOr<int64_t> emitSpecial(Emit &emit, const SpecialKernel &kernel, mlir::Operation *op, mlir::Value begin,
                                     mlir::Value end);

int64_t emitRope(Emit &emit, const SpecialKernel &kernel, nn::RopeOp op, mlir::Value begin, mlir::Value end);
int64_t emitEmbeddingGrad(Emit &emit, const SpecialKernel &kernel, nn::EmbeddingGradOp op, mlir::Value begin,
                          mlir::Value end);
int64_t emitRouter(Emit &emit, const SpecialKernel &kernel, nn::RouterOp op, mlir::Value begin, mlir::Value end);
int64_t emitRouterGrad(Emit &emit, const SpecialKernel &kernel, nn::RouterGradOp op, mlir::Value begin,
                       mlir::Value end);
int64_t emitDispatch(Emit &emit, const SpecialKernel &kernel, nn::DispatchOp op, mlir::Value begin, mlir::Value end);
int64_t emitCombine(Emit &emit, const SpecialKernel &kernel, nn::CombineOp op, mlir::Value begin, mlir::Value end);
int64_t emitCombineGrad(Emit &emit, const SpecialKernel &kernel, nn::CombineGradOp op, mlir::Value begin,
                        mlir::Value end);
int64_t emitAttention(Emit &emit, const SpecialKernel &kernel, nn::AttentionOp op, mlir::Value begin, mlir::Value end);
int64_t emitAttentionGrad(Emit &emit, const SpecialKernel &kernel, nn::AttentionGradOp op, mlir::Value begin,
                          mlir::Value end);
} // namespace hocket::cpu
