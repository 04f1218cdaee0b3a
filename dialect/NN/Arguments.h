// Reads words out of finite sets and `name = value` lists; the pieces that the directives of Assembly.h are made of.
#pragma once
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hocket::nn {
/// Reads one word that `known` holds. The message of a fault is "unknown WHAT 'word' (known: a, b)".
mlir::ParseResult parseWord(mlir::AsmParser &parser, llvm::StringRef what, llvm::ArrayRef<llvm::StringRef> known,
                            llvm::StringRef &word);

struct Argument {
  llvm::StringRef name;
  bool required;
  llvm::function_ref<mlir::ParseResult()> read; ///< reads the value
};
/// Reads `a = 1, b = 2` up to what is no comma, in any order. Unknown, doubled and missing names of `owner` are faults.
mlir::ParseResult parseArguments(mlir::AsmParser &parser, llvm::StringRef owner, llvm::ArrayRef<Argument> legal);
/// Reads `a(1) b c(2)`, as many of `legal` as stand there, in any order. `read` begins before the parenthesis.
mlir::ParseResult parseOptions(mlir::AsmParser &parser, llvm::StringRef owner, llvm::ArrayRef<Argument> legal);
/// Reads `(number)`, `(integer)`.
mlir::ParseResult parseRealInParens(mlir::AsmParser &parser, mlir::FloatAttr &value);
mlir::ParseResult parseIntegerInParens(mlir::AsmParser &parser, mlir::IntegerAttr &value);
mlir::ParseResult parseRealAttr(mlir::AsmParser &parser, mlir::FloatAttr &value);
mlir::ParseResult parseIntegerAttr(mlir::AsmParser &parser, mlir::IntegerAttr &value);
/// True if text stands at the parser's place that is a single word, alone to the end of its line, and on the line of
/// the token before: a word that no grammar rule has taken and that begins no op. Gives the word.
bool leftOverWord(mlir::AsmParser &parser, llvm::StringRef &word);
} // namespace hocket::nn
