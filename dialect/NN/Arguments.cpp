// Words of finite sets, `name = value` lists, `name(value)` options.
#include "dialect/NN/Arguments.h"
#include "dialect/NN/NN.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;

namespace hocket::nn {

static std::string quoted(ArrayRef<Argument> legal) {
  return llvm::join(llvm::map_range(legal, [](const Argument &a) { return a.name.str(); }), ", ");
}

ParseResult parseWord(AsmParser &parser, StringRef what, ArrayRef<StringRef> known, StringRef &word) {
  SMLoc at = parser.getCurrentLocation();
  std::string list = llvm::join(known, ", ");
  if (failed(parser.parseOptionalKeyword(&word)))
    return parser.emitError(at) << "expected " << what << " (known: " << list << ")";
  if (!llvm::is_contained(known, word))
    return parser.emitError(at) << "unknown " << what << " '" << word << "' (known: " << list << ")";
  return success();
}

/// Marks `name` of `legal` as seen; a fault if it is unknown or was seen before.
static const Argument *take(AsmParser &parser, SMLoc at, StringRef owner, StringRef name, ArrayRef<Argument> legal,
                            llvm::BitVector &seen) {
  for (auto [i, argument] : llvm::enumerate(legal)) {
    if (argument.name != name)
      continue;
    if (seen.test(i)) {
      parser.emitError(at) << owner << " has '" << name << "' twice";
      return nullptr;
    }
    seen.set(i);
    return &argument;
  }
  parser.emitError(at) << owner << " has no argument '" << name << "' (known: " << quoted(legal) << ")";
  return nullptr;
}

static ParseResult checkRequired(AsmParser &parser, SMLoc at, StringRef owner, ArrayRef<Argument> legal,
                                 const llvm::BitVector &seen) {
  for (auto [i, argument] : llvm::enumerate(legal))
    if (argument.required && !seen.test(i))
      return parser.emitError(at) << owner << " needs '" << argument.name << "'";
  return success();
}

ParseResult parseArguments(AsmParser &parser, StringRef owner, ArrayRef<Argument> legal) {
  SMLoc begin = parser.getCurrentLocation();
  llvm::BitVector seen(legal.size());
  do {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (failed(parser.parseOptionalKeyword(&name)))
      return parser.emitError(at) << "expected an argument of " << owner << " (known: " << quoted(legal) << ")";
    const Argument *argument = take(parser, at, owner, name, legal, seen);
    if (!argument || parser.parseEqual() || argument->read())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return checkRequired(parser, begin, owner, legal, seen);
}

ParseResult parseOptions(AsmParser &parser, StringRef owner, ArrayRef<Argument> legal) {
  SMLoc begin = parser.getCurrentLocation();
  llvm::BitVector seen(legal.size());
  for (;;) {
    SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (failed(parser.parseOptionalKeyword(&name)))
      return checkRequired(parser, begin, owner, legal, seen);
    const Argument *argument = take(parser, at, owner, name, legal, seen);
    if (!argument || argument->read())
      return failure();
  }
}

ParseResult parseRealAttr(AsmParser &parser, FloatAttr &value) {
  double number = 0;
  if (parseReal(parser, number))
    return failure();
  value = parser.getBuilder().getF64FloatAttr(number);
  return success();
}

ParseResult parseIntegerAttr(AsmParser &parser, IntegerAttr &value) {
  int64_t number = 0;
  SMLoc at = parser.getCurrentLocation();
  OptionalParseResult read = parser.parseOptionalInteger(number);
  if (!read.has_value())
    return parser.emitError(at) << "expected an integer";
  if (failed(*read))
    return failure();
  value = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}

ParseResult parseRealInParens(AsmParser &parser, FloatAttr &value) {
  return failure(parser.parseLParen() || parseRealAttr(parser, value) || parser.parseRParen());
}

ParseResult parseIntegerInParens(AsmParser &parser, IntegerAttr &value) {
  return failure(parser.parseLParen() || parseIntegerAttr(parser, value) || parser.parseRParen());
}

bool leftOverWord(AsmParser &parser, StringRef &word) {
  const char *begin = parser.getCurrentLocation().getPointer();
  if (!begin || !llvm::isAlpha(*begin))
    return false;
  // The file begins with something other than this word, so that there is a token before it.
  const char *before = begin - 1;
  while (*before == ' ' || *before == '\t')
    --before;
  const char *end = begin;
  while (llvm::isAlnum(*end) || *end == '_')
    ++end;
  word = StringRef(begin, end - begin);
  while (*end == ' ' || *end == '\t' || *end == '\r')
    ++end;
  return *before != '\n' && (*end == '\n' || *end == '\0') && word != "return";
}
} // namespace hocket::nn
