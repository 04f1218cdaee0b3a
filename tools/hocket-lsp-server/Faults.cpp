#include "tools/hocket-lsp-server/Faults.h"
#include "tools/hocket-lsp-server/ParameterNames.h"
#include "tools/hocket/Lowering.h"
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::lsp;
using namespace mlir;

/// Beyond this many ops, repeats multiplied out, plans are left to the command line.
static constexpr int64_t mostOps = 1'000'000;

static Range rangeOf(const std::optional<Location> &loc, const TextPlaces &places) {
  FileLineColLoc file = loc ? fileOf(*loc) : FileLineColLoc();
  return file ? places.wordAt(file.getLine(), file.getColumn()) : Range(Position(0, 0), Position(0, 1));
}

std::vector<llvm::lsp::Diagnostic>
hocket::lsp::diagnosticsOf(const tools::Session &session, const llvm::lsp::URIForFile &uri, const TextPlaces &places) {
  std::vector<llvm::lsp::Diagnostic> list;
  for (const tools::Session::Fault &fault : session.faults()) {
    llvm::lsp::Diagnostic &made = list.emplace_back();
    made.range = rangeOf(fault.loc, places);
    made.severity = llvm::lsp::DiagnosticSeverity::Error;
    made.source = "hocket";
    made.message = fault.text;
    for (const tools::Session::Message &note : fault.notes) {
      if (!made.relatedInformation)
        made.relatedInformation.emplace();
      made.relatedInformation->emplace_back(llvm::lsp::Location(uri, rangeOf(note.loc, places)), note.text);
    }
  }
  return list;
}

/// What the compiler has made already: its plans are carried out and need no check.
static bool isLowered(ModuleOp module) {
  return llvm::any_of(*module.getBody(), [](Operation &op) {
    return !isa<nn::BlockOp, nn::ModelOp, nn::RecipeOp, dist::MeshOp, dist::PlanOp>(op);
  });
}

/// Facts of one plan; a second session, so that what the first has found is not said twice.
static void addFacts(StringRef text, const std::string &name, PlanFacts &facts) {
  tools::Session session(tools::Session::Printing::None);
  if (!session.loadText(text, name) || !session.verify())
    return;
  tools::PlanFlags flags;
  flags.plan = facts.plan;
  auto choices = tools::choosePlans(session, flags, /*all=*/true);
  if (choices.size() != 1)
    return;
  auto shape = analysis::batchShape(choices[0].recipe, choices[0].plan, choices[0].mesh);
  if (!shape)
    return;
  facts.microbatches = shape->microbatches;
  if (auto module = tools::lower(session, choices[0], *shape, tools::Layer::Sharded))
    collectFacts(*module, facts);
}

Checked hocket::lsp::checkText(StringRef text, const llvm::lsp::URIForFile &uri, const std::function<bool()> &stop) {
  Checked out;
  TextPlaces places(text);
  std::string name = uri.file().str();
  tools::Session session(tools::Session::Printing::None);
  auto finish = [&] { out.diagnostics = diagnosticsOf(session, uri, places); };
  if (!session.loadText(text, name))
    return finish(), out;
  if (isLowered(session.module())) {
    session.verify();
    return finish(), out;
  }
  if (int64_t ops = opsMultipliedOut(session.module(), mostOps); ops >= mostOps) {
    session.verify();
    finish();
    llvm::lsp::Diagnostic &made = out.diagnostics.emplace_back();
    made.range = Range(Position(0, 0), Position(0, 1));
    made.severity = llvm::lsp::DiagnosticSeverity::Information;
    made.source = "hocket";
    made.message =
        fmt::format("plans are not checked while editing: with its blocks repeated the model has more than {} "
                    "ops; run hocket check",
                    mostOps);
    return out;
  }
  tools::checkFile(session, {}, [&](const tools::PlanChoice &choice, ModuleOp program) {
    PlanFacts &facts = out.plans.emplace_back(factsOf(choice.plan, choice.mesh));
    collectStages(program, facts);
  });
  finish();
  for (PlanFacts &facts : out.plans)
    if (!stop())
      addFacts(text, name, facts);
  return out;
}
