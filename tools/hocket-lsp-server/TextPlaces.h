// Places in a text as the protocol counts them (lines from 0, UTF-16 code units) and as the compiler does (bytes).
#pragma once
#include "mlir/IR/Location.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/SMLoc.h"
#include <vector>

namespace hocket::lsp {
using llvm::lsp::Position;
using llvm::lsp::Range;

class TextPlaces {
public:
  /// `text` must outlive this.
  explicit TextPlaces(llvm::StringRef text);

  llvm::StringRef text() const { return whole; }
  /// The byte a position stands before; positions past a line's or the text's end are taken as the end.
  size_t offset(Position position) const;
  Position position(size_t offset) const;
  Range range(llvm::SMRange range) const;
  /// The word that begins at a place of the compiler (lines and byte columns from 1), at least one character long.
  Range wordAt(unsigned line, unsigned column) const;
  const char *pointer(Position position) const { return whole.data() + offset(position); }

private:
  llvm::StringRef line(size_t index) const;

  llvm::StringRef whole;
  std::vector<size_t> starts; ///< of lines
};

/// The innermost place of a location in a file, null if it has none.
mlir::FileLineColLoc fileOf(mlir::Location loc);
} // namespace hocket::lsp
