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
llvm::hash_code hocket::step::hash_value(const Message &message) {
  return llvm::hash_combine(static_cast<int>(message.values), message.from, message.to, message.fromChunk,
                            message.toChunk);
}

static StringRef valuesText(Values values) { return values == Values::Activation ? "activation" : "gradient"; }
static std::string chunkText(unsigned chunk) { return chunk ? " chunk " + std::to_string(chunk) : std::string(); }

std::string hocket::step::messageText(const Message &message) {
  return (valuesText(message.values) + " from " + Twine(message.from) + chunkText(message.fromChunk) + " to " +
          Twine(message.to) + chunkText(message.toChunk))
      .str();
}

bool hocket::step::runsOnce(BodyKind kind) {
  return kind == BodyKind::Begin || kind == BodyKind::Update || kind == BodyKind::Evaluate;
}

namespace {
/// Reads the rows of one table; every fault is one message at its word.
struct TableParser {
  AsmParser &parser;
  SmallVector<StringAttr> streams;
  SmallVector<Message> messages;
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
  template <typename Int>
  ParseResult number(Int &value, StringRef what, uint64_t most = std::numeric_limits<Int>::max()) {
    uint64_t read = 0;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(read))
      return failure();
    if (read > most)
      return parser.emitError(loc) << what << ' ' << read << " is too large (at most " << most << ')';
    value = static_cast<Int>(read);
    return success();
  }
  ParseResult chunk(uint16_t &chunk) {
    chunk = 0;
    if (failed(parser.parseOptionalKeyword("chunk")))
      return success();
    return number(chunk, "chunk", std::numeric_limits<uint16_t>::max() / kBodyKinds - 1);
  }
  ParseResult values(Values &values) {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    if (word != "activation" && word != "gradient")
      return parser.emitError(loc) << "unknown kind of values '" << word << "' (legal: activation, gradient)";
    values = word == "activation" ? Values::Activation : Values::Gradient;
    return success();
  }
  ParseResult message() {
    Message message;
    if (values(message.values) || parser.parseKeyword("from") || number(message.from, "stage") ||
        chunk(message.fromChunk) || parser.parseKeyword("to") || number(message.to, "stage") || chunk(message.toChunk))
      return failure();
    messages.push_back(message);
    return success();
  }
  ParseResult microbatchAndSlot(Row &row) {
    return failure(parser.parseKeyword("microbatch") || number(row.microbatch, "microbatch"));
  }
  ParseResult slot(Row &row) { return failure(parser.parseKeyword("slot") || number(row.slot, "slot")); }

  ParseResult transfer(Row &row, SMLoc loc) {
    bool send = row.kind == RowKind::Send;
    Values which;
    uint16_t own = 0;
    uint32_t peer = 0;
    if (values(which) || chunk(own) || parser.parseKeyword(send ? "to" : "from") || number(peer, "stage") ||
        microbatchAndSlot(row) || slot(row))
      return failure();
    for (auto [i, message] : llvm::enumerate(messages))
      if (message.values == which && (send ? message.to : message.from) == peer &&
          (send ? message.fromChunk : message.toChunk) == own) {
        row.index = i;
        return success();
      }
    auto error = parser.emitError(loc) << (send ? "sends " : "receives ") << valuesText(which) << chunkText(own)
                                       << (send ? " to " : " from ") << peer << ", no message of this table (it has: ";
    llvm::interleaveComma(messages, error, [&](const Message &message) { error << messageText(message); });
    return error << ')';
  }
  ParseResult body(Row &row, StringRef word, SMLoc loc) {
    std::optional<BodyKind> kind = symbolizeBodyKind(word);
    if (!kind) {
      auto error = parser.emitError(loc) << "unknown row '" << word << "' (legal: send, receive";
      for (unsigned k = 0; k < kBodyKinds; ++k)
        error << ", " << stringifyBodyKind(static_cast<BodyKind>(k));
      return error << ')';
    }
    uint16_t number = 0;
    if (chunk(number) || (!runsOnce(*kind) && (microbatchAndSlot(row) || slot(row))))
      return failure();
    row.index = bodyIndexOf(static_cast<unsigned>(*kind), number);
    return success();
  }
  ParseResult row() {
    Row row;
    StringRef word;
    if (stream(row.stream) || parser.parseColon())
      return failure();
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    row.kind = word == "send" ? RowKind::Send : word == "receive" ? RowKind::Receive : RowKind::Body;
    if (row.kind == RowKind::Body ? body(row, word, loc) : transfer(row, loc))
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
  ParseResult streamName() {
    std::string text;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseString(&text))
      return failure();
    if (streams.size() == kMaxStreams)
      return parser.emitError(loc) << "too many streams (at most " << kMaxStreams << ')';
    streams.push_back(StringAttr::get(parser.getContext(), text));
    return success();
  }
  ParseResult table() {
    if (parser.parseLess() || parser.parseKeyword("streams") ||
        parser.parseCommaSeparatedList([&] { return streamName(); }))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("messages")) && parser.parseCommaSeparatedList([&] { return message(); }))
      return failure();
    if (parser.parseLBrace())
      return failure();
    while (failed(parser.parseOptionalRBrace()))
      if (row())
        return failure();
    return parser.parseGreater();
  }
};
} // namespace

Attribute TableAttr::parse(AsmParser &parser, Type) {
  TableParser table{parser, {}, {}, {}};
  SMLoc loc = parser.getCurrentLocation();
  if (table.table())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(), table.streams, table.messages,
                    table.rows);
}

static void printRow(AsmPrinter &printer, TableAttr table, const Row &row) {
  printer << table.getStreams()[row.stream].getValue() << ": ";
  bool once = false;
  if (row.kind == RowKind::Body) {
    auto kind = static_cast<BodyKind>(row.index % kBodyKinds);
    printer << stringifyBodyKind(kind) << chunkText(row.index / kBodyKinds);
    once = runsOnce(kind);
  } else {
    const Message &message = table.getMessages()[row.index];
    bool send = row.kind == RowKind::Send;
    printer << (send ? "send " : "receive ") << valuesText(message.values)
            << chunkText(send ? message.fromChunk : message.toChunk) << (send ? " to " : " from ")
            << (send ? message.to : message.from);
  }
  if (!once)
    printer << " microbatch " << row.microbatch << " slot " << row.slot;
  StringRef separator = " after ";
  for (auto [stream, count] : llvm::enumerate(row.wait))
    if (count) {
      printer << separator << table.getStreams()[stream].getValue() << ' ' << count;
      separator = ", ";
    }
}

void TableAttr::print(AsmPrinter &printer) const {
  printer << "<streams ";
  llvm::interleaveComma(getStreams(), printer);
  if (!getMessages().empty()) {
    printer << " messages ";
    llvm::interleaveComma(getMessages(), printer, [&](const Message &message) { printer << messageText(message); });
  }
  printer << " {";
  for (const Row &row : getRows()) {
    printer << "\n    ";
    printRow(printer, *this, row);
  }
  printer << "\n  }>";
}

namespace {
using EmitError = function_ref<InFlightDiagnostic()>;

/// C4, and the stage whose table this is.
LogicalResult verifyMessages(EmitError emitError, ArrayRef<Message> messages, ArrayRef<Row> rows) {
  for (auto [i, message] : llvm::enumerate(messages))
    if (llvm::is_contained(messages.take_front(i), message))
      return emitError() << "message '" << messageText(message) << "' is there twice";
  std::optional<uint32_t> stage;
  std::vector<bool> used(messages.size());
  for (const Row &row : rows) {
    if (row.kind == RowKind::Body)
      continue;
    if (row.index >= messages.size())
      return emitError() << "a row of message " << row.index << ", the table has " << messages.size();
    const Message &message = messages[row.index];
    used[row.index] = true;
    uint32_t own = row.kind == RowKind::Send ? message.from : message.to;
    if (stage.value_or(own) != own)
      return emitError() << "the message '" << messageText(message) << "' is "
                         << (row.kind == RowKind::Send ? "sent" : "received") << " by stage " << own
                         << ", other rows are of stage " << *stage;
    stage = own;
  }
  for (auto [message, there] : llvm::zip_equal(messages, used))
    if (!there)
      return emitError() << "no row sends or receives the message '" << messageText(message) << "'";
  return success();
}
} // namespace

LogicalResult TableAttr::verify(EmitError emitError, ArrayRef<StringAttr> streams, ArrayRef<Message> messages,
                                ArrayRef<Row> rows) {
  for (auto [i, name] : llvm::enumerate(streams))
    if (llvm::is_contained(streams.take_front(i), name))
      return emitError() << "stream '" << name.getValue() << "' is there twice";
  SmallVector<uint32_t> counts(streams.size());
  for (const Row &row : rows) {
    if (row.stream >= streams.size())
      return emitError() << "row on stream " << int(row.stream) << ", the table has " << streams.size();
    ++counts[row.stream];
    bool body = row.kind == RowKind::Body;
    if (body != (row.stream == 0))
      return emitError() << "a " << (body ? "body" : "message") << " on stream '" << streams[row.stream].getValue()
                         << "'; bodies run on the first stream, '" << streams[0].getValue()
                         << "', and messages on the others";
    if (body && runsOnce(static_cast<BodyKind>(row.index % kBodyKinds)) && (row.microbatch || row.slot))
      return emitError() << "a row of " << stringifyBodyKind(static_cast<BodyKind>(row.index % kBodyKinds))
                         << " with microbatch " << row.microbatch << " and slot " << row.slot
                         << "; it runs once a step";
  }
  for (const Row &row : rows)
    for (auto [stream, count] : llvm::enumerate(row.wait))
      if (count && (stream >= streams.size() || count > counts[stream]))
        return emitError() << "a row waits for " << count << " rows of "
                           << (stream < streams.size() ? "stream '" + streams[stream].str() + "', which has "
                                                       : "stream " + std::to_string(stream) + ", which has ")
                           << (stream < streams.size() ? counts[stream] : 0);
  return verifyMessages(emitError, messages, rows);
}
