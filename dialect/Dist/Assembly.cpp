// The custom<…> directives of the dialect's formats, and the generated definitions of its ops.
#include "dialect/NN/Assembly.h"
#include "dialect/Dist/AxesSyntax.h"
using namespace mlir;
using namespace hocket::dist;
using namespace hocket::nn;

ParseResult hocket::dist::parseMeshAxes(OpAsmParser &parser, ArrayAttr &axes) {
  SmallVector<Attribute> list;
  auto parseOne = [&]() -> ParseResult {
    std::string name;
    int64_t size = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalString(&name)))
      return parser.emitError(loc) << "expected a mesh axis and its size, as in \"tp\"=2";
    if (parser.parseEqual() || parser.parseInteger(size))
      return failure();
    list.push_back(MeshAxisAttr::get(parser.getContext(), name, size));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseOne))
    return failure();
  axes = parser.getBuilder().getArrayAttr(list);
  return success();
}
void hocket::dist::printMeshAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes) {
  printer << '<';
  llvm::interleaveComma(axes.getAsRange<MeshAxisAttr>(), printer,
                        [&](MeshAxisAttr axis) { printer << '"' << axis.getName() << "\"=" << axis.getSize(); });
  printer << '>';
}

/// `"h.*.weight" dim 2`, or a form by name: `megatron`.
static ParseResult parseSplitWhat(OpAsmParser &parser, StringAttr &pattern, IntegerAttr &dim, StringAttr &form) {
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    form = parser.getBuilder().getStringAttr(word);
    return success();
  }
  std::string name;
  int64_t number = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&name)))
    return parser.emitError(loc) << "expected a parameter's name in quotes with `dim`, `auto` or `megatron`";
  if (parser.parseKeyword("dim") || parser.parseInteger(number))
    return failure();
  pattern = parser.getBuilder().getStringAttr(name);
  dim = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}
static void printSplitWhat(OpAsmPrinter &printer, Operation *, StringAttr pattern, IntegerAttr dim, StringAttr form) {
  if (form)
    printer << form.getValue();
  else
    printer << pattern << " dim " << (dim ? dim.getInt() : 0);
}

/// Names that the lexer takes as one word stand bare, the others (1f1b, zb-h1) in quotes; both are read.
/// `[8, 8, 7, 7]`.
static ParseResult parseCuts(OpAsmParser &parser, DenseI64ArrayAttr &cuts) {
  SmallVector<int64_t> sizes;
  SMLoc loc = parser.getCurrentLocation();
  auto oneSize = [&] {
    OptionalParseResult size = parser.parseOptionalInteger(sizes.emplace_back());
    return size.has_value() && succeeded(*size);
  };
  bool read = succeeded(parser.parseOptionalLSquare()) && oneSize();
  while (read && succeeded(parser.parseOptionalComma()))
    read = oneSize();
  if (!read || failed(parser.parseOptionalRSquare()))
    return parser.emitError(loc) << "expected the layers of each stage, as in cuts [8, 8, 7, 7]";
  cuts = parser.getBuilder().getDenseI64ArrayAttr(sizes);
  return success();
}

/// `[cuts [8, 8, 7, 7]] [schedule "1f1b" | schedule file("table.txt")]`; no schedule is 1f1b.
static ParseResult parseSchedule(OpAsmParser &parser, DenseI64ArrayAttr &cuts, StringAttr &name, StringAttr &table) {
  Builder &builder = parser.getBuilder();
  name = builder.getStringAttr("1f1b");
  if (succeeded(parser.parseOptionalKeyword("cuts")) && failed(parseCuts(parser, cuts)))
    return failure();
  if (failed(parser.parseOptionalKeyword("schedule")))
    return success();
  std::string word;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeywordOrString(&word)))
    return parser.emitError(loc)
           << "expected a schedule's name; 1f1b and others that begin with a digit or hold a dash stand in quotes";
  name = builder.getStringAttr(word);
  if (failed(parser.parseOptionalLParen()))
    return success();
  loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&word)) || failed(parser.parseOptionalRParen()))
    return parser.emitError(loc) << "expected the path of a table in quotes, as in schedule file(\"table.txt\")";
  table = builder.getStringAttr(word);
  return success();
}
static void printSchedule(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr cuts, StringAttr name,
                          StringAttr table) {
  if (cuts) {
    printer << "cuts [";
    llvm::interleaveComma(cuts.asArrayRef(), printer);
    printer << "] ";
  }
  printer << "schedule ";
  printer.printKeywordOrString(name.getValue());
  if (table)
    printer << "(" << table << ")";
}

static ParseResult parseReductionWord(OpAsmParser &parser, ReductionAttr &reduction) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&word, {"sum", "max", "min"})))
    return parser.emitError(loc) << "expected how values are joined: sum, max or min";
  reduction = ReductionAttr::get(parser.getContext(), *symbolizeReduction(word));
  return success();
}
static void printReductionWord(OpAsmPrinter &printer, Operation *, ReductionAttr reduction) {
  printer << stringifyReduction(reduction.getValue());
}

static ParseResult parseGatherWord(OpAsmParser &parser, GatherAttr &gather) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&word, {"per_use", "kept", "once", "once_partial"})))
    return parser.emitError(loc) << "expected when parameters are gathered: per_use, kept, once or once_partial";
  gather = GatherAttr::get(parser.getContext(), *symbolizeGather(word));
  return success();
}
static void printGatherWord(OpAsmPrinter &printer, Operation *, GatherAttr gather) {
  printer << stringifyGather(gather.getValue());
}

#define GET_OP_CLASSES
#include "dialect/Dist/DistOps.cpp.inc"
