// Path, phase and shardings of an op, and how they are written.
#include "dialect/NN/Arguments.h"
#include "dialect/NN/Assembly.h"
using namespace mlir;

namespace hocket::nn {

StringRef getPath(Operation *op) {
  auto path = op->getAttrOfType<StringAttr>("path");
  return path ? path.getValue() : StringRef();
}
void setPath(Operation *op, StringRef path) {
  if (path.empty())
    op->removeAttr("path");
  else
    op->setAttr("path", StringAttr::get(op->getContext(), path));
}

Phase getPhase(Operation *op) {
  auto phase = op->getAttrOfType<PhaseAttr>("phase");
  return phase ? phase.getValue() : Phase::Forward;
}
void setPhase(Operation *op, Phase phase) { op->setAttr("phase", PhaseAttr::get(op->getContext(), phase)); }

Attribute getSharding(OpResult result) {
  auto all = result.getOwner()->getAttrOfType<ArrayAttr>("shardings");
  if (!all || result.getResultNumber() >= all.size())
    return {};
  Attribute sharding = all[result.getResultNumber()];
  return isa<UnitAttr>(sharding) ? Attribute() : sharding;
}

void setShardings(Operation *op, ArrayRef<Attribute> shardings) {
  if (llvm::none_of(shardings, [](Attribute sharding) { return bool(sharding); })) {
    op->removeAttr("shardings");
    return;
  }
  // An array of attributes has no null: a unit stands for "not known".
  SmallVector<Attribute> all(shardings);
  llvm::replace(all, Attribute(), Attribute(UnitAttr::get(op->getContext())));
  op->setAttr("shardings", ArrayAttr::get(op->getContext(), all));
}

LogicalResult verifyPlacement(Operation *op) {
  auto shardings = op->getAttrOfType<ArrayAttr>("shardings");
  if (!shardings)
    return success();
  // A write has no result: its sharding is that of the value written.
  ValueRange values = op->getNumResults() ? ValueRange(op->getResults()) : op->getOperands().take_back(1);
  if (shardings.size() != values.size())
    return op->emitOpError() << "has " << shardings.size() << " shardings for " << values.size() << " values";
  LogicalResult result = success();
  for (auto [i, attribute] : llvm::enumerate(shardings)) {
    if (isa<UnitAttr>(attribute))
      continue;
    auto type = dyn_cast<RankedTensorType>(values[i].getType());
    auto sharding = dyn_cast<ShardingAttrInterface>(attribute);
    if (!sharding)
      result = op->emitOpError() << "is placed by " << attribute << ", which is no sharding";
    else if (type && sharding.getShardedRank() != type.getRank())
      result = op->emitOpError() << "has a sharding of " << sharding.getShardedRank() << " dimensions for a value of "
                                 << type.getRank();
  }
  return result;
}

static ParseResult parseShardings(OpAsmParser &parser, ArrayAttr &shardings) {
  SmallVector<Attribute> all;
  auto one = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("none"))) {
      all.push_back(UnitAttr::get(parser.getContext()));
      return success();
    }
    return parser.parseAttribute(all.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one))
    return failure();
  shardings = parser.getBuilder().getArrayAttr(all);
  return success();
}

ParseResult parsePlacement(OpAsmParser &parser, StringAttr &path, PhaseAttr &phase, ArrayAttr &shardings) {
  if (succeeded(parser.parseOptionalKeyword("in"))) {
    SMLoc at = parser.getCurrentLocation();
    std::string text;
    if (failed(parser.parseOptionalString(&text)))
      return parser.emitError(at) << "expected a layer path in quotes after 'in'";
    path = parser.getBuilder().getStringAttr(text);
  }
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word, {"forward", "backward", "weight_grad", "recompute"})))
    phase = PhaseAttr::get(parser.getContext(), *symbolizePhase(word));
  if (succeeded(parser.parseOptionalKeyword("on")) && parseShardings(parser, shardings))
    return failure();
  if (leftOverWord(parser, word))
    return parser.emitError(parser.getCurrentLocation())
           << "unknown phase '" << word << "' (known: forward, backward, weight_grad, recompute)";
  return success();
}

void printPlacement(OpAsmPrinter &printer, Operation *, StringAttr path, PhaseAttr phase, ArrayAttr shardings) {
  if (path)
    printer << " in " << path;
  if (phase)
    printer << ' ' << stringifyPhase(phase.getValue());
  if (!shardings)
    return;
  printer << " on [";
  llvm::interleaveComma(shardings, printer, [&](Attribute sharding) {
    if (isa<UnitAttr>(sharding))
      printer << "none";
    else
      printer << sharding;
  });
  printer << ']';
}
} // namespace hocket::nn
