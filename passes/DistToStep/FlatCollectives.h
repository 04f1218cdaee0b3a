// From the dist ops of a local program to what communicators and kernels offer: flat, rank-major collectives with the
// data movement before and after them, and numbers of the rank.
#pragma once
#include "dialect/Step/Step.h"
#include "mlir/IR/IRMapping.h"

namespace hocket::step {

/// Emits `op`'s equivalent at the builder's place and maps its results. False if it is no op of the dist dialect.
/// `mesh` gives the sizes of axes. A gather or scatter of a dimension that is uneven over several axes goes axis by
/// axis.
bool lowerDistOp(mlir::OpBuilder &builder, mlir::Operation *op, mlir::IRMapping &map, dist::MeshOp mesh);

/// A sum over `axes` (at the given coordinates of the one axis, if any) of one tensor.
mlir::Value emitAllReduce(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input, dist::Reduction reduction,
                          dist::AxesAttr axes, llvm::ArrayRef<int64_t> stages, llvm::StringRef cause,
                          llvm::StringRef path, nn::PhaseAttr phase);
/// A tensor of zeros.
mlir::Value emitZeros(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type, llvm::StringRef path);
} // namespace hocket::step
