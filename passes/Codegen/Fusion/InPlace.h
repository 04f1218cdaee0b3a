// Which results of a kernel may lie on an operand.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace hocket::codegen {
/// Pairs (result, argument), flat, where the result may take the argument's memory: one type, and each element (row,
/// column) of them is read at the latest where the same element of the result is written.
///   adamw's parameter and moments; add; layer_norm of (a + b) that also returns the sum: the sum on a or b
///   not: layer_norm's result on its operand (rows are read in several loops), a stack, attention
llvm::SmallVector<int64_t> placesInside(mlir::func::FuncOp kernel);
} // namespace hocket::codegen
