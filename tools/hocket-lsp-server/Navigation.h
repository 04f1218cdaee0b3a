// Where things are defined and used, and the outline of a file.
#pragma once
#include "tools/hocket-lsp-server/Document.h"

namespace hocket::lsp {
/// Of a value, a symbol, or the parameters that a quoted name or pattern means.
std::vector<llvm::lsp::Location> definitionsAt(Document &document, Position position);
/// The definition and all uses.
std::vector<llvm::lsp::Location> referencesAt(Document &document, Position position);
/// Blocks and models with their parameters and layers, recipes, meshes, plans with their tactics.
std::vector<llvm::lsp::DocumentSymbol> outlineOf(Document &document);

/// The parameters that a quoted text in `op` speaks of: of a `split` those that its pattern fits, of a `param` itself.
std::vector<nn::ParamOp> parametersMeant(Document &document, mlir::Operation *op, llvm::StringRef quoted);
} // namespace hocket::lsp
