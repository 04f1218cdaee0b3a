// One open file: its text, and what is known of it without running a pass.
#pragma once
#include "mlir/AsmParser/AsmParserState.h"
#include "tools/hocket-lsp-server/Faults.h"
#include <memory>

namespace hocket::lsp {

class Document {
public:
  /// Parses and verifies op by op: milliseconds for a model.
  Document(const llvm::lsp::URIForFile &uri, llvm::StringRef text, int64_t version);

  const llvm::lsp::URIForFile uri;
  const int64_t version;
  bool parsed() const { return isParsed; }
  llvm::StringRef text() const { return session.text(); }
  const TextPlaces &places() const { return *textPlaces; }
  const mlir::AsmParserState &state() const { return parserState; }
  mlir::ModuleOp module() { return session.module(); }
  std::vector<llvm::lsp::Diagnostic> diagnostics() const { return diagnosticsOf(session, uri, places()); }

  using OpDef = mlir::AsmParserState::OperationDefinition;
  using Definition = mlir::AsmParserState::SMDefinition;

  /// What stands at a place: an op by its name or by `@name`, or an SSA value.
  struct Thing {
    const OpDef *op = nullptr;              ///< that is named, or that makes the value
    mlir::Value value;                      ///< if it is a value
    const Definition *definition = nullptr; ///< of the value
    llvm::SMRange range;                    ///< of the word at the place
    const OpDef *user = nullptr;            ///< the op that uses the value here
  };
  std::optional<Thing> thingAt(Position position) const;
  /// The innermost op around a place, and the text between quotes there, if any.
  const OpDef *opAround(Position position) const;
  std::optional<std::pair<llvm::StringRef, llvm::SMRange>> quotedAt(Position position) const;

private:
  mlir::AsmParserState parserState;
  tools::Session session{tools::Session::Printing::None};
  std::unique_ptr<TextPlaces> textPlaces;
  bool isParsed = false;
};
} // namespace hocket::lsp
