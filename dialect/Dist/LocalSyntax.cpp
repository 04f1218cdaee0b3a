// How manual regions and local types are written.
#include "dialect/Dist/AxesSyntax.h"
#include "dialect/Dist/LocalTypes.h"
#include "dialect/NN/Arguments.h"
#include "dialect/NN/Assembly.h"
#include "mlir/IR/DialectImplementation.h"
using namespace mlir;
using namespace hocket::dist;

// ---- local types
static ParseResult parseLocalType(AsmParser &parser, LocalType &type) {
  StringRef word;
  if (hocket::nn::parseWord(parser, "local type", {"replicated", "invariant", "varying", "partial"}, word))
    return failure();
  type = {*symbolizeLocalKind(word)};
  if (type.kind != LocalKind::Varying)
    return success();
  SMLoc at = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLParen()))
    return parser.emitError(at) << "expected the dimension that varies, as in varying(1)";
  return failure(parser.parseInteger(type.dim) || parser.parseRParen());
}

Attribute LocalTypeAttr::parse(AsmParser &parser, Type) {
  SmallVector<LocalType> types;
  auto one = [&] { return parseLocalType(parser, types.emplace_back()); };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, one))
    return {};
  return get(parser.getContext(), types);
}
void LocalTypeAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getAxes(), printer, [&](const LocalType &type) { printer << text(type); });
  printer << '>';
}

ParseResult hocket::dist::parseLocalTypeWord(OpAsmParser &parser, LocalTypeAttr &type) {
  LocalType one;
  if (parseLocalType(parser, one))
    return failure();
  type = LocalTypeAttr::get(parser.getContext(), one);
  return success();
}
void hocket::dist::printLocalTypeWord(OpAsmPrinter &printer, Operation *, LocalTypeAttr type) {
  llvm::interleaveComma(type.getAxes(), printer, [&](const LocalType &one) { printer << text(one); });
}

ParseResult hocket::dist::parseTransferWord(OpAsmParser &parser, TransferAttr &by) {
  StringRef word = "free";
  if (succeeded(parser.parseOptionalKeyword("by")) &&
      hocket::nn::parseWord(parser, "transfer", {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "slice"},
                            word))
    return failure();
  by = TransferAttr::get(parser.getContext(), *symbolizeTransfer(word));
  return success();
}
void hocket::dist::printTransferWord(OpAsmPrinter &printer, Operation *, TransferAttr by) {
  if (by.getValue() != Transfer::Free)
    printer << "by " << stringifyTransfer(by.getValue());
}

/// `varying(1)` along one axis, `[varying(1), replicated]` along several.
static ParseResult parseTypesOf(OpAsmParser &parser, LocalTypeAttr &types) {
  SmallVector<LocalType> list;
  auto one = [&] { return parseLocalType(parser, list.emplace_back()); };
  if (succeeded(parser.parseOptionalLSquare())) {
    if (parser.parseCommaSeparatedList(one) || parser.parseRSquare())
      return failure();
  } else if (one()) {
    return failure();
  }
  types = LocalTypeAttr::get(parser.getContext(), list);
  return success();
}
static void printTypesOf(OpAsmPrinter &printer, LocalTypeAttr types) {
  bool list = types.getAxes().size() != 1;
  printer << (list ? "[" : "");
  llvm::interleaveComma(types.getAxes(), printer, [&](const LocalType &type) { printer << text(type); });
  printer << (list ? "]" : "");
}

// ---- the region
namespace {
/// Reads one dist.local. Types of regions' arguments are not written: they follow from those of operands and results.
class LocalParser {
public:
  LocalParser(OpAsmParser &parser, OperationState &state) : parser(parser), state(state) {}
  ParseResult run();

private:
  ParseResult argument();
  ParseResult result();
  ParseResult backward(Region &region);
  ParseResult localType(SMLoc at, RankedTensorType global, LocalTypeAttr types, Type &local);

  OpAsmParser &parser;
  OperationState &state;
  ArrayAttr axes;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> operandTypes, resultTypes, gradientTypes;
  SmallVector<Attribute> argTypes, resultLocalTypes;
};
} // namespace

static std::string faultOfCount(size_t found, size_t axes) {
  return std::to_string(found) + " local types for " + std::to_string(axes) + " axes; each axis needs one";
}

ParseResult LocalParser::localType(SMLoc at, RankedTensorType global, LocalTypeAttr types, Type &local) {
  if (types.getAxes().size() != axes.size())
    return parser.emitError(at) << "found " << faultOfCount(types.getAxes().size(), axes.size());
  std::string fault;
  FailureOr<RankedTensorType> found = localTypeIn(axes, global, types.getAxes(), fault);
  if (failed(found))
    return parser.emitError(at) << "the value " << fault;
  local = *found;
  return success();
}

ParseResult LocalParser::argument() {
  Type type;
  LocalTypeAttr types;
  OpAsmParser::Argument &inner = arguments.emplace_back();
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseArgument(inner) || parser.parseEqual() || parser.parseOperand(operands.emplace_back()) ||
      parser.parseColonType(type) || parser.parseKeyword("as") || parseTypesOf(parser, types))
    return failure();
  auto global = dyn_cast<RankedTensorType>(type);
  if (!global)
    return parser.emitError(at) << "found " << type << ", expected a ranked tensor";
  operandTypes.push_back(type);
  argTypes.push_back(types);
  return localType(at, global, types, inner.type);
}

ParseResult LocalParser::result() {
  Type type, local;
  LocalTypeAttr types;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseType(type) || parser.parseKeyword("as") || parseTypesOf(parser, types))
    return failure();
  auto global = dyn_cast<RankedTensorType>(type);
  if (!global)
    return parser.emitError(at) << "found " << type << ", expected a ranked tensor";
  resultTypes.push_back(type);
  resultLocalTypes.push_back(types);
  if (localType(at, global, types, local))
    return failure();
  if (hasGradient(type))
    gradientTypes.push_back(local);
  return success();
}

ParseResult LocalParser::backward(Region &region) {
  SmallVector<OpAsmParser::Argument> given;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseArgumentList(given, OpAsmParser::Delimiter::Paren))
    return failure();
  SmallVector<Type> types = llvm::map_to_vector(arguments, [](auto &each) { return each.type; });
  types.append(gradientTypes);
  if (given.size() != types.size())
    return parser.emitError(at) << "backward has " << given.size() << " arguments, expected " << types.size()
                                << ": the operands and the gradient of each float result";
  for (auto [each, type] : llvm::zip(given, types))
    each.type = type;
  return parser.parseRegion(region, given);
}

ParseResult LocalParser::run() {
  Builder &builder = parser.getBuilder();
  int64_t kept = 0;
  if (parser.parseKeyword("over"))
    return failure();
  SMLoc at = parser.getCurrentLocation();
  if (parseMeshAxes(parser, axes))
    return failure();
  for (auto axis : axes.getAsRange<MeshAxisAttr>())
    if (axis.getSize() < 1)
      return parser.emitError(at) << "axis \"" << axis.getName() << "\" has " << axis.getSize()
                                  << " ranks; at least 1 is needed";
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] { return argument(); }) || parser.parseArrow() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] { return result(); }))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("keep")) && parser.parseInteger(kept))
    return failure();
  Region &body = *state.addRegion(), &derivative = *state.addRegion();
  if (parser.parseRegion(body, arguments) ||
      (succeeded(parser.parseOptionalKeyword("backward")) && backward(derivative)))
    return failure();
  StringAttr path;
  hocket::nn::PhaseAttr phase;
  ArrayAttr shardings;
  if (hocket::nn::parsePlacement(parser, path, phase, shardings) || parser.parseOptionalAttrDict(state.attributes))
    return failure();
  auto add = [&](StringRef name, Attribute value) {
    if (value)
      state.addAttribute(name, value);
  };
  add("axes", axes);
  add("arg_types", builder.getArrayAttr(argTypes));
  add("result_types", builder.getArrayAttr(resultLocalTypes));
  add("kept", builder.getI64IntegerAttr(kept));
  add("path", path);
  add("phase", phase);
  add("shardings", shardings);
  state.addTypes(resultTypes);
  return parser.resolveOperands(operands, operandTypes, at, state.operands);
}

ParseResult LocalOp::parse(OpAsmParser &parser, OperationState &state) { return LocalParser(parser, state).run(); }

void LocalOp::print(OpAsmPrinter &printer) {
  printer << " over ";
  printMeshAxes(printer, *this, getAxes());
  printer << " (";
  auto types = bodyArguments(*this);
  for (auto [i, x] : llvm::enumerate(getXs())) {
    printer << (i ? ", " : "") << getBody().getArgument(static_cast<unsigned>(i)) << " = " << x << " : " << x.getType()
            << " as ";
    printTypesOf(printer, types[i]);
  }
  printer << ") -> (";
  for (auto [i, y] : llvm::enumerate(getYs())) {
    printer << (i ? ", " : "") << y.getType() << " as ";
    printTypesOf(printer, cast<LocalTypeAttr>(getResultTypesAttr()[i]));
  }
  printer << ") ";
  if (int64_t kept = static_cast<int64_t>(getKept()))
    printer << "keep " << kept << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  if (!getBackward().empty()) {
    printer << " backward (";
    llvm::interleaveComma(getBackward().getArguments(), printer, [&](Value each) { printer << each; });
    printer << ") ";
    printer.printRegion(getBackward(), /*printEntryBlockArgs=*/false);
  }
  hocket::nn::printPlacement(printer, *this, getPathAttr(), getPhaseAttr(), getShardingsAttr());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"axes", "arg_types", "result_types", "kept", "path", "phase", "shardings"});
}
