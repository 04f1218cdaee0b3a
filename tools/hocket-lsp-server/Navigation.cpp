// See Navigation.h.
#include "tools/hocket-lsp-server/Navigation.h"
#include "dialect/Step/Step.h"
#include "tools/hocket-lsp-server/ParameterNames.h"
#include "llvm/ADT/SetVector.h"
using namespace hocket;
using namespace hocket::lsp;
using namespace mlir;

std::vector<nn::ParamOp> hocket::lsp::parametersMeant(Document &document, Operation *op, StringRef quoted) {
  if (auto param = dyn_cast<nn::ParamOp>(op))
    return {param};
  StringRef model;
  if (auto plan = op->getParentOfType<dist::PlanOp>())
    model = plan.getModel();
  else if (auto recipe = op->getParentOfType<nn::RecipeOp>())
    model = recipe.getModel();
  SymbolTable symbols(document.module());
  auto found = model.empty() ? nn::ModelOp() : symbols.lookup<nn::ModelOp>(model);
  llvm::SetVector<Operation *> params;
  if (found)
    for (const ParameterName &each : parameterNames(found))
      if (nn::matchesName(quoted, each.name))
        params.insert(each.param);
  std::vector<nn::ParamOp> list;
  for (Operation *param : params)
    list.push_back(cast<nn::ParamOp>(param));
  return list;
}

static std::vector<nn::ParamOp> quotedParameters(Document &document, Position position) {
  auto quoted = document.quotedAt(position);
  const Document::OpDef *around = document.opAround(position);
  if (!quoted || !around)
    return {};
  return parametersMeant(document, around->op, quoted->first);
}

std::vector<llvm::lsp::Location> hocket::lsp::definitionsAt(Document &document, Position position) {
  std::vector<llvm::lsp::Location> found;
  auto add = [&](llvm::SMRange range) { found.emplace_back(document.uri, document.places().range(range)); };
  if (auto thing = document.thingAt(position))
    add(thing->value ? thing->definition->loc : thing->op->loc);
  else
    for (nn::ParamOp param : quotedParameters(document, position))
      if (const Document::OpDef *def = document.state().getOpDef(param))
        add(def->loc);
  return found;
}

std::vector<llvm::lsp::Location> hocket::lsp::referencesAt(Document &document, Position position) {
  std::vector<llvm::lsp::Location> found;
  auto add = [&](llvm::SMRange range) { found.emplace_back(document.uri, document.places().range(range)); };
  auto thing = document.thingAt(position);
  if (!thing)
    return found;
  if (thing->value) {
    add(thing->definition->loc);
    llvm::for_each(thing->definition->uses, add);
    return found;
  }
  add(thing->op->loc);
  llvm::for_each(thing->op->symbolUses, add);
  for (const auto &group : thing->op->resultGroups)
    llvm::for_each(group.definition.uses, add);
  return found;
}

namespace {
struct Outline {
  Document &document;

  /// The line of an op without its region and its comment.
  std::string lineOf(const Document::OpDef &def) {
    StringRef text(def.loc.Start.getPointer(),
                   std::max<ptrdiff_t>(0, def.scopeLoc.End.getPointer() - def.loc.Start.getPointer()));
    return text.take_until([](char c) { return c == '\n' || c == '{'; }).split("//").first.trim().str();
  }
  std::optional<llvm::lsp::DocumentSymbol> entry(Operation *op) {
    const Document::OpDef *def = document.state().getOpDef(op);
    if (!def)
      return std::nullopt;
    using Kind = llvm::lsp::SymbolKind;
    std::string name = op->getName().stripDialect().str(), detail;
    Kind kind = Kind::Property;
    if (auto symbol = dyn_cast<SymbolOpInterface>(op)) {
      detail = op->getName().getStringRef();
      name = symbol.getName().str();
      kind = isa<nn::ModelOp, nn::BlockOp>(op) ? Kind::Class : isa<dist::PlanOp>(op) ? Kind::Module : Kind::Struct;
    } else if (auto param = dyn_cast<nn::ParamOp>(op)) {
      name = param.getName().str();
      llvm::raw_string_ostream(detail) << param.getValue().getType();
      kind = Kind::Field;
    } else if (isa<nn::CallOp, nn::RepeatOp>(op)) {
      name = lineOf(*def);
      kind = Kind::Method;
    } else if (isa<dist::PlanOp, nn::RecipeOp>(op->getParentOp())) {
      name = lineOf(*def);
    } else {
      return std::nullopt;
    }
    Range selection = document.places().range(def->loc), whole = document.places().range(def->scopeLoc);
    if (!whole.contains(selection))
      whole = selection;
    llvm::lsp::DocumentSymbol made(name.empty() ? "?" : name, kind, whole, selection);
    made.detail = detail;
    return made;
  }
  void add(Operation *op, std::vector<llvm::lsp::DocumentSymbol> &to) {
    auto made = entry(op);
    if (!made)
      return;
    if (isa<nn::BlockOp, nn::ModelOp, nn::RecipeOp, dist::PlanOp>(op))
      for (Region &region : op->getRegions())
        for (Operation &child : region.getOps())
          add(&child, made->children);
    to.push_back(std::move(*made));
  }
};
} // namespace

std::vector<llvm::lsp::DocumentSymbol> hocket::lsp::outlineOf(Document &document) {
  std::vector<llvm::lsp::DocumentSymbol> symbols;
  if (document.parsed())
    for (Operation &op : *document.module().getBody())
      Outline{document}.add(&op, symbols);
  return symbols;
}
