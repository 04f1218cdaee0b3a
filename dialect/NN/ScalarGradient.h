// Gradients of ops that are a scalar body, as elementwise ops whose bodies are made by the chain rule.
#pragma once
#include "dialect/NN/NN.h"

namespace hocket::nn {
/// Emits scalars at the end of the block that becomes the body; returns the body's values, one a result.
using ScalarBodyBuilder =
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::ValueRange arguments)>;

/// An elementwise op over `inputs`. Scalars that nothing uses are erased, equal ones merged, and inputs that the body
/// does not use are left out (so that they need not be kept until the backward), but for one.
ElementwiseOp buildElementwise(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                               mlir::TypeRange types, mlir::ValueRange inputs, ScalarBodyBuilder body);

/// The gradient of `op`, which has ScalarOpInterface, by reverse mode over its body: one elementwise op NAME_grad for
/// all operands, then a sum for each operand of lower rank. A body's ops are those that isScalarOp accepts. Where a
/// function has no derivative one side's is taken: maximumf and minimumf give to the first operand only where it alone
/// wins; |x| and its like have 0 at 0.
void buildScalarGradient(mlir::Operation *op, llvm::StringRef name, mlir::OpBuilder &builder,
                         mlir::ValueRange resultGrads, const llvm::BitVector &needed,
                         llvm::MutableArrayRef<mlir::Value> operandGrads);

/// Zeros of the type of `like`.
mlir::Value buildZeros(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value like);
/// x repeated along the leading dimensions that it lacks; x itself if it lacks none.
mlir::Value buildBroadcast(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, mlir::RankedTensorType type);
/// x summed over the leading dimensions that `type` lacks; x itself if it lacks none.
mlir::Value buildSumTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, mlir::RankedTensorType type);
} // namespace hocket::nn
