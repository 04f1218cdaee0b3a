// The dialects that emitters write become LLVM and NVVM.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace hocket::cuda {
/// Functions of mathematics become instructions (square root, rounding) or calls of libdevice, which translateKernel
/// links.
mlir::LogicalResult lowerToNvvm(mlir::ModuleOp kernel);
} // namespace hocket::cuda
