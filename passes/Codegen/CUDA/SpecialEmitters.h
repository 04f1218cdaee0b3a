// Kernels that are no graph over rows and columns. Each fails at its op where it has no form for it.
#pragma once
#include "passes/Codegen/CUDA/GpuEmit.h"

namespace hocket::cuda {
/// Emits the kernel whose main op is `op`, and writes its launches.
mlir::LogicalResult emitSpecial(mlir::func::FuncOp kernel, mlir::Operation *op, mlir::ModuleOp into);

mlir::LogicalResult emitRope(mlir::func::FuncOp kernel, nn::RopeOp op, mlir::ModuleOp into);
mlir::LogicalResult emitEmbeddingGrad(mlir::func::FuncOp kernel, nn::EmbeddingGradOp op, mlir::ModuleOp into);
mlir::LogicalResult emitDispatch(mlir::func::FuncOp kernel, nn::DispatchOp op, mlir::ModuleOp into);
mlir::LogicalResult emitCombine(mlir::func::FuncOp kernel, nn::CombineOp op, mlir::ModuleOp into);
mlir::LogicalResult emitCombineGrad(mlir::func::FuncOp kernel, nn::CombineGradOp op, mlir::ModuleOp into);
mlir::LogicalResult emitRouter(mlir::func::FuncOp kernel, nn::RouterOp op, mlir::ModuleOp into);
mlir::LogicalResult emitRouterGrad(mlir::func::FuncOp kernel, nn::RouterGradOp op, mlir::ModuleOp into);

/// The largest power of two, at most 8, that divides every number: elements of a piece that never crosses an end.
int64_t lanesOf(std::initializer_list<int64_t> numbers);
/// A launch with one thread for each of `count` things, and the body for the thread's own (i64).
Launch overThreads(GpuEmit &e, int64_t count, llvm::function_ref<void(mlir::Value index)> body);
/// As overThreads, with a warp for each thing: all its threads call the body together; those of warps beyond `count` do
/// as the last thing's and must not store (`there`: null where every warp has its own).
Launch overWarps(GpuEmit &e, int64_t count,
                 llvm::function_ref<void(mlir::Value index, mlir::Value lane, mlir::Value there)> body);
mlir::Type elementOf(mlir::Value tensor);
} // namespace hocket::cuda
