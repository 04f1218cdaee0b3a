// Names of what bodies do, for the generated ops (internal to dialect/Step).
#pragma once
#include "dialect/Step/Step.h"

namespace hocket::step {
/// Names results by path and work: %h0_attn_gemm, %h3_ln_1_layer_norm.
void nameWork(mlir::Operation *op, mlir::OpAsmSetValueNameFn set);

/// "(tensor<4xf32>, memref<2xf32>)", also "()": type lists of ODS do not read an empty one.
inline mlir::ParseResult parseTypesInParens(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<mlir::Type> &types) {
  return parser.parseCommaSeparatedList(mlir::OpAsmParser::Delimiter::Paren,
                                        [&] { return parser.parseType(types.emplace_back()); });
}
inline void printTypesInParens(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::TypeRange types) {
  printer << '(';
  llvm::interleaveComma(types, printer, [&](mlir::Type type) { printer.printType(type); });
  printer << ')';
}
} // namespace hocket::step
