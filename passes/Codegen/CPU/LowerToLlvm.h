// The last lowering inside MLIR.
#pragma once
#include "mlir/IR/BuiltinOps.h"

namespace hocket::cpu {
/// Turns what the emitters wrote (scf, vector, arith, math inside llvm.func) into the LLVM dialect alone. exp, tanh,
/// log and the like on f32 become polynomials; on f64 they call the C library (they run once a kernel).
mlir::LogicalResult lowerToLlvm(mlir::ModuleOp module);
} // namespace hocket::cpu
