// Names of what bodies do, for the generated ops (internal to dialect/Step).
#pragma once
#include "dialect/Step/Step.h"

namespace hocket::step {
/// Names results by path and work: %h0_attn_gemm, %h3_ln_1_layer_norm.
void nameWork(mlir::Operation *op, mlir::OpAsmSetValueNameFn set);

/// Work reads and makes tensors, or, once memory is planned, reads and writes buffers: never a mixture.
mlir::LogicalResult verifyForm(mlir::Operation *op, mlir::ValueRange inputs, mlir::ValueRange outs);

/// For op formats: types in parentheses, none too: `()`.
mlir::ParseResult parseTypeList(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<mlir::Type> &types);
void printTypeList(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::TypeRange types);
} // namespace hocket::step
