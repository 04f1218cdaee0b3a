// See Hover.h.
#include "tools/hocket-lsp-server/Hover.h"
#include "tools/hocket-lsp-server/Navigation.h"
#include "tools/hocket-lsp-server/OpDocs.h"
#include "tools/hocket-lsp-server/ParameterNames.h"
#include "tools/hocket/AlikeLines.h"
#include "tools/hocket/Report.h"
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::lsp;
using namespace mlir;
using tools::bytesText;

namespace {
std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Bytes of a tensor whose sizes are all known.
std::optional<uint64_t> bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return std::nullopt;
  return uint64_t(tensor.getNumElements()) * llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

struct HoverText {
  Document &document;
  const Checked *checked;
  std::string out;

  OpPlace placeOf(Operation *op) {
    FileLineColLoc file = fileOf(op->getLoc());
    return file ? OpPlace(file.getLine(), file.getColumn()) : OpPlace(0, 0);
  }
  /// Plans of the file that have no facts have faults; say so rather than leave them out.
  void plansWithout(const std::set<std::string> &told) {
    std::string names;
    for (auto plan : document.module().getOps<dist::PlanOp>())
      if (!told.contains(plan.getSymName().str()))
        names += (names.empty() ? "`" : ", `") + plan.getSymName().str() + "`";
    if (names.empty())
      return;
    out += checked && checked->complete ? "\n\nnothing known under " + names + ": see the faults of this file\n"
                                        : "\n\nplans are being worked out: " + names + "\n";
  }

  void param(nn::ParamOp param) {
    Type type = param.getValue().getType();
    out += fmt::format("param `{}` : `{}`", param.getName().str(), typeText(type));
    if (auto bytes = bytesOf(type))
      out += fmt::format("\n\n{} whole", bytesText(*bytes));
    size_t copies = 0;
    std::string pattern;
    for (auto model : document.module().getOps<nn::ModelOp>())
      for (const ParameterName &each : parameterNames(model))
        if (each.param == param) {
          copies += 1;
          pattern = tools::withoutLayer(each.name).first;
        }
    if (copies > 1 && bytesOf(type))
      out += fmt::format("; {} of them, `{}`, {} in all", copies, pattern, bytesText(copies * *bytesOf(type)));
    paramTable({param});
  }

  /// One line for each plan and form; layers alike are one.
  void paramTable(const std::vector<nn::ParamOp> &params) {
    std::set<std::string> told;
    std::string table;
    for (const PlanFacts &plan : checked ? checked->plans : std::vector<PlanFacts>()) {
      tools::AlikeLines<ParamFact> alike;
      for (nn::ParamOp param : params)
        if (auto it = plan.params.find(placeOf(param)); it != plan.params.end())
          for (const ParamFact &fact : it->second) {
            auto [pattern, layer] = tools::withoutLayer(fact.name);
            alike.add(fmt::format("{} {} {} {}", pattern, fact.rest.shape, fact.rest.sharding,
                                  fact.moment ? fact.moment->shape + fact.moment->sharding : ""),
                      fact, layer, 1);
          }
      for (auto &line : alike.lines) {
        told.insert(plan.plan);
        const ParamFact &fact = line.item;
        table += fmt::format(
            "| `{}` {} | `{}` | {} | {} | {} | {} |\n", plan.plan, plan.mesh,
            alike.name(line, tools::withoutLayer(fact.name).first, false), fact.rest.sharding, fact.rest.shape,
            bytesText(fact.rest.bytes),
            !fact.moment ? "frozen"
            : *fact.moment == fact.rest
                ? "the same"
                : fmt::format("{}: {}, {}", fact.moment->shape, fact.moment->sharding, bytesText(fact.moment->bytes)));
      }
    }
    if (!table.empty())
      out += "\n\n| plan | parameter | split | on a rank | bytes | a moment |\n|---|---|---|---|---|---|\n" + table;
    plansWithout(told);
  }

  /// A value by the op that makes it, or, an argument of a block, by the op that reads it here.
  void value(const Document::Thing &thing) {
    Type type = thing.value.getType();
    StringRef word(thing.range.Start.getPointer(), thing.range.End.getPointer() - thing.range.Start.getPointer());
    out += fmt::format("`{}` : `{}`", word.str(), typeText(type));
    if (auto bytes = bytesOf(type))
      out += fmt::format(", {} whole", bytesText(*bytes));
    Operation *maker = thing.value.getDefiningOp(), *reader = thing.user ? thing.user->op : nullptr;
    if (maker)
      out += fmt::format("\n\nmade by `{}`", maker->getName().getStringRef().str());
    // The loss becomes several ops; what fits the type here is the result.
    auto tensor = dyn_cast<RankedTensorType>(type);
    int64_t rank = tensor ? tensor.getRank() : -1;
    std::set<std::string> told;
    std::string table;
    for (const PlanFacts &plan : checked ? checked->plans : std::vector<PlanFacts>()) {
      tools::AlikeLines<Piece> alike;
      auto add = [&](Operation *op, size_t index, std::vector<std::optional<Piece>> ValueFact::*which) {
        auto it = op ? plan.values.find(placeOf(op)) : plan.values.end();
        if (it == plan.values.end())
          return;
        for (const ValueFact &fact : it->second)
          if (index < (fact.*which).size() && (fact.*which)[index] && (fact.*which)[index]->rank == rank) {
            const Piece &piece = *(fact.*which)[index];
            auto [pattern, layer] = tools::withoutLayer(fact.path);
            alike.add(pattern + piece.shape + piece.sharding, piece, layer, 1);
          }
      };
      if (maker)
        add(maker, cast<OpResult>(thing.value).getResultNumber(), &ValueFact::results);
      if (alike.lines.empty() && reader && reader != maker)
        for (OpOperand &operand : reader->getOpOperands())
          if (operand.get() == thing.value)
            add(reader, operand.getOperandNumber(), &ValueFact::operands);
      size_t index = 0;
      for (auto &line : alike.lines) {
        told.insert(plan.plan);
        std::string layers = line.first < 0            ? ""
                             : line.first == line.last ? fmt::format("layer {}", line.first)
                                                       : fmt::format("layers {}-{}", line.first, line.last);
        table += fmt::format("| {} | {} | {} | {} | {} |\n", index++ ? "" : "`" + plan.plan + "` " + plan.mesh, layers,
                             line.item.sharding, line.item.shape, bytesText(line.item.bytes));
      }
    }
    if (!table.empty())
      out += "\n\n| plan | where | split | on a rank, a microbatch | bytes |\n|---|---|---|---|---|\n" + table;
    if (table.empty() && checked) // arguments that no op reads here, pieces of the loss
      return;
    plansWithout(told);
  }
  void plan(dist::PlanOp plan) {
    out += fmt::format("plan `{}`", plan.getSymName().str());
    for (const PlanFacts &facts : checked ? checked->plans : std::vector<PlanFacts>()) {
      if (facts.plan != plan.getSymName())
        continue;
      out += fmt::format(" on {} ranks, {}; {} microbatches a step\n\n", facts.ranks, facts.mesh, facts.microbatches);
      out += facts.stages.empty() ? checked->complete ? "memory is not known: see the faults of this file\n"
                                                      : "memory is being worked out\n"
                                  : "| stage | memory of a rank, planned | layers |\n|---|---|---|\n";
      for (const StageFact &stage : facts.stages)
        out += fmt::format("| {} | {} | {} |\n", stage.stage, bytesText(stage.bytes), stage.layers);
      return;
    }
    out += checked && checked->complete ? ": see the faults of this file\n" : ": being worked out\n";
  }

  void split(dist::SplitOp split) {
    auto pattern = split.getPattern();
    if (!pattern)
      return op(split, /*withDoc=*/true);
    auto params = parametersMeant(document, split, *pattern);
    out += fmt::format("`{}` fits {} parameter{} of the file", pattern->str(), params.size(),
                       params.size() == 1 ? "" : "s");
    paramTable(params);
  }

  void op(Operation *op, bool withDoc) {
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      out += fmt::format("`{} @{}`", op->getName().getStringRef().str(), symbol.getName().str());
    else
      out += fmt::format("`{}`", op->getName().getStringRef().str());
    if (auto mesh = dyn_cast<dist::MeshOp>(op))
      out += fmt::format(": {} ranks", mesh.getWorldSize());
    if (auto model = dyn_cast<nn::ModelOp>(op)) {
      uint64_t elements = 0;
      for (const ParameterName &each : parameterNames(model))
        if (auto type = dyn_cast<RankedTensorType>(ParamTypeOf(each.param)); type && type.hasStaticShape())
          elements += type.getNumElements();
      out += fmt::format(": {} parameters", elements);
    }
    if (std::string doc = withDoc ? opDoc(op->getName().getStringRef().str()) : ""; !doc.empty())
      out += "\n\n" + doc;
  }
  static Type ParamTypeOf(nn::ParamOp param) { return param.getValue().getType(); }
};
} // namespace

std::optional<llvm::lsp::Hover> hocket::lsp::hoverAt(Document &document, Position position, const Checked *checked) {
  if (!document.parsed())
    return std::nullopt;
  HoverText text{document, checked, {}};
  llvm::SMRange range;
  if (auto quoted = document.quotedAt(position)) {
    const Document::OpDef *around = document.opAround(position);
    range = quoted->second;
    if (auto param = around ? dyn_cast<nn::ParamOp>(around->op) : nn::ParamOp())
      text.param(param);
    else if (auto split = around ? dyn_cast<dist::SplitOp>(around->op) : dist::SplitOp();
             split && split.getPattern() == quoted->first)
      text.split(split);
  } else if (auto thing = document.thingAt(position)) {
    range = thing->range;
    Operation *op = thing->op ? thing->op->op : nullptr;
    if (auto param = dyn_cast_or_null<nn::ParamOp>(op))
      text.param(param);
    else if (thing->value)
      text.value(*thing);
    else if (auto plan = dyn_cast<dist::PlanOp>(op))
      text.plan(plan);
    else if (auto split = dyn_cast<dist::SplitOp>(op))
      text.split(split);
    else
      text.op(op, /*withDoc=*/true);
  }
  if (text.out.empty())
    return std::nullopt;
  llvm::lsp::Hover hover(document.places().range(range));
  hover.contents.value = std::move(text.out);
  return hover;
}
