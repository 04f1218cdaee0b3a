// What `hocket check` says of a text, for an editor: all faults with their notes, and what the plans make of it.
#pragma once
#include "tools/hocket-lsp-server/PlanFacts.h"
#include "tools/hocket-lsp-server/TextPlaces.h"
#include "tools/hocket/Session.h"
#include "llvm/Support/LSP/Protocol.h"
#include <functional>
#include <memory>

namespace hocket::lsp {

/// Faults as squiggles; notes as related places. A fault without a place stands at the beginning.
std::vector<llvm::lsp::Diagnostic> diagnosticsOf(const tools::Session &session, const llvm::lsp::URIForFile &uri,
                                                 const TextPlaces &places);

/// One version of a text, checked.
struct Checked {
  std::vector<llvm::lsp::Diagnostic> diagnostics;
  std::vector<PlanFacts> plans; ///< those without faults
  bool complete = false;        ///< all plans lowered, and diagnostics are all there are
};
using CheckedPtr = std::shared_ptr<const Checked>;
/// All that `hocket check` does; seconds for a large model. `early`: is given shardings as soon as they are known, long
/// before memory is. `stop`: asked between plans.
CheckedPtr checkText(llvm::StringRef text, const llvm::lsp::URIForFile &uri,
                     const std::function<void(CheckedPtr)> &early, const std::function<bool()> &stop);
} // namespace hocket::lsp
