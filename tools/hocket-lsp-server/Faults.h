// What `hocket check` says of a text, for an editor: all faults with their notes, and what the plans make of it.
#pragma once
#include "tools/hocket-lsp-server/PlanFacts.h"
#include "tools/hocket-lsp-server/TextPlaces.h"
#include "tools/hocket/Session.h"
#include "llvm/Support/LSP/Protocol.h"
#include <functional>

namespace hocket::lsp {

/// Faults as squiggles; notes as related places. A fault without a place stands at the beginning.
std::vector<llvm::lsp::Diagnostic> diagnosticsOf(const tools::Session &session, const llvm::lsp::URIForFile &uri,
                                                 const TextPlaces &places);

/// One version of a text, checked.
struct Checked {
  std::vector<llvm::lsp::Diagnostic> diagnostics;
  std::vector<PlanFacts> plans;
};
/// All that `hocket check` does; seconds for a large model. `stop`: asked between plans.
Checked checkText(llvm::StringRef text, const llvm::lsp::URIForFile &uri, const std::function<bool()> &stop);
} // namespace hocket::lsp
