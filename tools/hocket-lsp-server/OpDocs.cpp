// See OpDocs.h.
#include "tools/hocket-lsp-server/OpDocs.h"
#include "llvm/ADT/StringRef.h"
#include <map>
using namespace hocket::lsp;
using llvm::StringRef;

/// What mlir-tblgen -gen-op-doc writes of each dialect.
static const char *const pages[] = {
#include "tools/hocket-lsp-server/DistOpDocs.inc"
#include "tools/hocket-lsp-server/NNOpDocs.inc"
#include "tools/hocket-lsp-server/StepOpDocs.inc"
};

/// Sections begin with "### `nn.add` (…)"; then come the summary, `Syntax:` with a code block, the description, and
/// tables, which are for programmers.
static std::map<std::string, std::string> readPages() {
  std::map<std::string, std::string> docs;
  for (StringRef page : pages)
    for (StringRef rest = page.split("\n### `").second; !rest.empty();) {
      auto [section, next] = rest.split("\n### `");
      rest = next;
      auto [head, body] = section.split('\n');
      for (StringRef tables : {"\nTraits: ", "\nInterfaces: ", "\nEffects: ", "\n#### "})
        body = body.split(tables).first;
      if (auto [before, syntax] = body.split("\nSyntax:"); !syntax.empty()) {
        StringRef after = syntax.split("```\n").second.split("```").second;
        docs[head.split('`').first.str()] = (before.trim() + "\n\n" + after.trim()).str();
      } else {
        docs[head.split('`').first.str()] = body.trim().str();
      }
    }
  return docs;
}

std::string hocket::lsp::opDoc(const std::string &op) {
  static const std::map<std::string, std::string> docs = readPages();
  auto it = docs.find(op);
  return it == docs.end() ? "" : it->second;
}
