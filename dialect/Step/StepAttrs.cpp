// The text of a schedule table, one row a line.
#include "dialect/Step/Step.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;
using namespace hocket::step;

#define GET_ATTRDEF_CLASSES
#include "dialect/Step/StepAttrs.cpp.inc"

void StepDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Step/StepAttrs.cpp.inc"
      >();
}

llvm::hash_code hocket::step::hash_value(const Row &row) {
  return llvm::hash_combine(static_cast<int>(row.kind), row.stream, row.index, row.microbatch, row.slot,
                            llvm::hash_combine_range(row.wait.begin(), row.wait.end()));
}

static constexpr StringLiteral kindNames[] = {"body", "send", "receive"};

namespace {
/// Reads the rows of one table; every fault is one message at its word.
struct TableParser {
  AsmParser &parser;
  SmallVector<StringAttr> streams;
  SmallVector<Row> rows;

  ParseResult stream(uint8_t &index) {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    for (auto [i, name] : llvm::enumerate(streams))
      if (name.getValue() == word) {
        index = i;
        return success();
      }
    auto error = parser.emitError(loc) << "unknown stream '" << word << "' (this table has:";
    for (StringAttr name : streams)
      error << ' ' << name.getValue();
    return error << ')';
  }
  template <typename Int> ParseResult number(Int &value, StringRef what) {
    uint64_t read = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(read))
      return failure();
    if (read > std::numeric_limits<Int>::max())
      return parser.emitError(loc) << what << ' ' << read << " is too large (at most "
                                   << uint64_t(std::numeric_limits<Int>::max()) << ')';
    value = static_cast<Int>(read);
    return success();
  }
  ParseResult row() {
    Row row;
    StringRef kind;
    if (stream(row.stream) || parser.parseColon())
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&kind))
      return failure();
    const auto *found = llvm::find(kindNames, kind);
    if (found == std::end(kindNames))
      return parser.emitError(loc) << "unknown kind of row '" << kind << "' (legal: body, send, receive)";
    row.kind = static_cast<RowKind>(found - std::begin(kindNames));
    if (number(row.index, "index") || parser.parseKeyword("microbatch") || number(row.microbatch, "microbatch") ||
        parser.parseKeyword("slot") || number(row.slot, "slot"))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("after")))
      do {
        uint8_t on = 0;
        if (stream(on) || number(row.wait[on], "wait"))
          return failure();
      } while (succeeded(parser.parseOptionalComma()));
    rows.push_back(row);
    return success();
  }
  ParseResult table() {
    auto name = [&]() -> ParseResult {
      std::string text;
      SMLoc loc = parser.getCurrentLocation();
      if (parser.parseString(&text))
        return failure();
      if (streams.size() == kMaxStreams)
        return parser.emitError(loc) << "too many streams (at most " << kMaxStreams << ')';
      streams.push_back(StringAttr::get(parser.getContext(), text));
      return success();
    };
    if (parser.parseLess() || parser.parseKeyword("streams") || parser.parseCommaSeparatedList(name) ||
        parser.parseLBrace())
      return failure();
    while (failed(parser.parseOptionalRBrace()))
      if (row())
        return failure();
    return parser.parseGreater();
  }
};
} // namespace

Attribute TableAttr::parse(AsmParser &parser, Type) {
  TableParser table{parser, {}, {}};
  SMLoc loc = parser.getCurrentLocation();
  if (table.table())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), table.streams, table.rows);
}

void TableAttr::print(AsmPrinter &printer) const {
  printer << "<streams ";
  llvm::interleaveComma(getStreams(), printer);
  printer << " {";
  for (const Row &row : getRows()) {
    printer << "\n    " << getStreams()[row.stream].getValue() << ": " << kindNames[static_cast<int>(row.kind)] << ' '
            << row.index << " microbatch " << row.microbatch << " slot " << row.slot;
    StringRef separator = " after ";
    for (auto [stream, count] : llvm::enumerate(row.wait))
      if (count) {
        printer << separator << getStreams()[stream].getValue() << ' ' << count;
        separator = ", ";
      }
  }
  printer << "\n  }>";
}

LogicalResult TableAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<StringAttr> streams,
                                ArrayRef<Row> rows) {
  SmallVector<uint32_t> counts(streams.size());
  for (const Row &row : rows) {
    if (row.stream >= streams.size())
      return emitError() << "row on stream " << int(row.stream) << ", the table has " << streams.size();
    ++counts[row.stream];
  }
  for (const Row &row : rows)
    for (auto [stream, count] : llvm::enumerate(row.wait))
      if (count && (stream >= streams.size() || count > counts[stream]))
        return emitError() << "a row waits for " << count << " rows of stream " << stream << ", which has "
                           << (stream < streams.size() ? counts[stream] : 0);
  return success();
}
