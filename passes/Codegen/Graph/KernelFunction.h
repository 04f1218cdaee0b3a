// What is said of a kernel function whatever its target.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace hocket::codegen {
/// On a kernel function and what is made of it (i64): floating-point operations; bytes that it must read or write, each
/// once: of a table the rows taken from it, of what is cut the part.
inline constexpr llvm::StringLiteral flopsAttr = "hocket.flops", bytesAttr = "hocket.bytes";

/// True for a kernel made by codegen-fuse: a private function with a body.
bool isKernel(mlir::func::FuncOp function);
/// Writes flopsAttr and bytesAttr.
void noteWork(mlir::func::FuncOp kernel);
} // namespace hocket::codegen
