// Reading, printing and comparing axes and sub-axes.
#include "dialect/Dist/AxesSyntax.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace hocket::dist;

llvm::hash_code hocket::dist::hash_value(const AxisRef &ref) {
  return llvm::hash_combine(ref.name.getAsOpaquePointer(), ref.pre, ref.size);
}
llvm::hash_code hocket::dist::hash_value(const DimSharding &dim) {
  return llvm::hash_combine(llvm::hash_combine_range(dim.axes.begin(), dim.axes.end()), dim.open);
}

bool hocket::dist::overlap(const AxisRef &a, const AxisRef &b) {
  if (a.name != b.name)
    return false;
  if (a.isWholeAxis() || b.isWholeAxis())
    return true;
  const AxisRef &major = a.pre <= b.pre ? a : b, &minor = a.pre <= b.pre ? b : a;
  return minor.pre % (major.pre * major.size) != 0;
}

std::string hocket::dist::faultOf(const AxisRef &ref) {
  if (ref.name.getValue().empty())
    return "a mesh axis has an empty name";
  if (!ref.isWholeAxis() &&
      (ref.pre < 1 || ref.size < 1 || ref.pre > (int64_t(1) << 31) || ref.size > (int64_t(1) << 31)))
    return "sub-axis " + axesText(ref).substr(1, axesText(ref).size() - 2) +
           ": both numbers are at least 1 and at most 2147483648, as in \"tp\":(1)2";
  return "";
}

ParseResult hocket::dist::parseAxisRef(AsmParser &parser, AxisRef &ref, StringRef expected) {
  std::string name;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&name)))
    return parser.emitError(loc) << "expected " << expected;
  ref.name = StringAttr::get(parser.getContext(), name);
  if (failed(parser.parseOptionalColon()))
    return success();
  if (parser.parseLParen() || parser.parseInteger(ref.pre) || parser.parseRParen() || parser.parseInteger(ref.size))
    return failure();
  if (ref.size == 0) // 0 would read as the whole axis
    return parser.emitError(loc) << "sub-axis of \"" << name << "\" has 0 devices; at least 1 is needed";
  return success();
}

ParseResult hocket::dist::parseAxisSet(AsmParser &parser, SmallVectorImpl<AxisRef> &refs, bool *open) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    if (open && *open)
      return parser.emitError(loc)
             << "nothing may follow `?`: an open dimension names its axes first, as in {\"tp\", ?}";
    if (open && succeeded(parser.parseOptionalQuestion())) {
      *open = true;
      return success();
    }
    return parseAxisRef(parser, refs.emplace_back(),
                        open ? "a mesh axis in quotes or `?`, as in {\"tp\", ?}"
                             : "a mesh axis in quotes, as in {\"tp\"}");
  });
}

void hocket::dist::printAxisRef(raw_ostream &os, const AxisRef &ref) {
  os << '"';
  llvm::printEscapedString(ref.name.getValue(), os);
  os << '"';
  if (!ref.isWholeAxis())
    os << ":(" << ref.pre << ')' << ref.size;
}

void hocket::dist::printAxisSet(raw_ostream &os, ArrayRef<AxisRef> refs, bool open) {
  os << '{';
  llvm::interleaveComma(refs, os, [&](const AxisRef &ref) { printAxisRef(os, ref); });
  os << (open ? (refs.empty() ? "?" : ", ?") : "") << '}';
}

std::string hocket::dist::axesText(ArrayRef<AxisRef> refs) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printAxisSet(os, refs);
  return text;
}

void hocket::dist::printAxes(OpAsmPrinter &printer, Operation *, AxesAttr axes) {
  if (axes.getRefs().size() == 1 && axes.getRefs()[0].isWholeAxis())
    printAxisRef(printer.getStream(), axes.getRefs()[0]);
  else
    printAxisSet(printer.getStream(), axes.getRefs());
}
