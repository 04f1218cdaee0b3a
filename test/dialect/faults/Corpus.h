// The texts under test/dialect, piece by piece: what parsers and verifiers have seen, for tests that change them. A
// fault that stops the program prints the piece that it was working on.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <random>
#include <string>
#include <vector>

namespace hocket::testing {

struct Piece {
  std::string file, text;
};
/// Pieces (between `// -----`) of every .mlir file of the dialects; those of files named `…-invalid.mlir` only if
/// asked.
std::vector<Piece> pieces(bool invalid);

/// A context with all dialects of the language, which says nothing.
class QuietContext {
public:
  QuietContext();
  mlir::MLIRContext &get() { return context; }
  /// Null where the text does not parse; not verified.
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text);
  /// Verifiers and factor rules of every op, each by itself, whatever the others say. False if one refuses.
  static bool examine(mlir::ModuleOp module);
  int64_t faults = 0; ///< diagnostics so far

private:
  mlir::MLIRContext context;
};

/// What is worked on, printed when the program is stopped by a signal.
void workingOn(std::string what);
/// The seed and the number of draws of this run: `draws`, or twenty times as many with HOCKET_LONG.
int64_t drawsOf(int64_t draws);
} // namespace hocket::testing
