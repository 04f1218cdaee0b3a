// See Faults.h.
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

/// Shardings under every plan that has no fault. Faults are the check's to tell: this session is apart from it.
static std::vector<PlanFacts> shardingFacts(StringRef text, const std::string &name,
                                            const std::function<bool()> &stop) {
  std::vector<PlanFacts> plans;
  tools::Session session(tools::Session::Printing::None);
  if (!session.loadText(text, name) || !session.verify())
    return plans;
  tools::checkScheduleNames(session);
  for (const tools::PlanChoice &choice : tools::choosePlans(session, {}, /*all=*/true)) {
    auto shape = analysis::batchShape(choice.recipe, choice.plan, choice.mesh);
    auto module = shape && !stop() ? tools::lower(session, choice, *shape, tools::Layer::Sharded) : nullptr;
    if (!module)
      continue;
    PlanFacts &facts = plans.emplace_back(factsOf(choice.plan, choice.mesh));
    facts.microbatches = shape->microbatches;
    collectFacts(*module, facts);
  }
  return plans;
}

static llvm::lsp::Diagnostic tooManyOps() {
  llvm::lsp::Diagnostic made;
  made.range = Range(Position(0, 0), Position(0, 1));
  made.severity = llvm::lsp::DiagnosticSeverity::Information;
  made.source = "hocket";
  made.message =
      fmt::format("plans are not checked while editing: with its blocks repeated the model has {} ops or more; "
                  "run hocket check",
                  mostOps);
  return made;
}

CheckedPtr hocket::lsp::checkText(StringRef text, const llvm::lsp::URIForFile &uri,
                                  const std::function<void(CheckedPtr)> &early, const std::function<bool()> &stop) {
  auto out = std::make_shared<Checked>();
  out->complete = true;
  TextPlaces places(text);
  std::string name = uri.file().str();
  tools::Session session(tools::Session::Printing::None);
  bool parses = session.loadText(text, name);
  bool small = parses && opsMultipliedOut(session.module(), mostOps) < mostOps;
  if (parses && (!small || isLowered(session.module())))
    session.verify();
  else if (parses) {
    auto first = std::make_shared<Checked>();
    first->plans = out->plans = shardingFacts(text, name, stop);
    early(first);
    tools::checkFile(session, {}, [&](tools::PlanChoice choice, ModuleOp program) {
      for (PlanFacts &facts : out->plans)
        if (program && facts.plan == choice.plan.getSymName())
          collectStages(program, facts);
    });
  }
  out->diagnostics = diagnosticsOf(session, uri, places);
  if (parses && !small)
    out->diagnostics.push_back(tooManyOps());
  return out;
}
