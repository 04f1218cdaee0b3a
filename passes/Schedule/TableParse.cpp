// Text to tables: a reader of words, one line at a time. A line that cannot be read is a fault and is skipped.
#include "passes/Schedule/TableText.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hocket::schedule {
namespace {

/// Splits a line into words; ':' ',' and '->' are words of their own.
std::vector<std::string> wordsOf(std::string_view line) {
  std::vector<std::string> words;
  line = line.substr(0, line.find("//"));
  for (size_t i = 0; i < line.size();) {
    if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      ++i;
    } else if (line[i] == ':' || line[i] == ',') {
      words.emplace_back(1, line[i++]);
    } else {
      size_t end = std::min(line.find_first_of(" \t\r:,", i), line.size());
      words.emplace_back(line.substr(i, end - i));
      i = end;
    }
  }
  return words;
}

class Parser {
public:
  explicit Parser(Faults &faults) : faults(faults) {}

  std::optional<Tables> parse(std::string_view text) {
    size_t before = faults.size();
    while (!text.empty()) {
      size_t end = std::min(text.find('\n'), text.size());
      ++line;
      words = wordsOf(text.substr(0, end));
      next = 0;
      if (!words.empty() && (parseLine() && next != words.size()))
        fail(fmt::format("unexpected '{}' at the end of the line", words[next]));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!header)
      faults.push_back({"no line 'schedule stages P chunks V microbatches M'", {}});
    else if (stagesRead && tables.stages.size() != stages)
      faults.push_back({fmt::format("{} stages are described, the schedule has {}", tables.stages.size(), stages), {}});
    if (size_t named = tables.communicators.size(); named && named != tables.messages.size() && faults.size() == before)
      faults.push_back(
          {fmt::format("{} of {} messages name a communicator; all do, or none", named, tables.messages.size()), {}});
    if (faults.size() != before)
      return std::nullopt;
    return std::move(tables);
  }

private:
  bool fail(std::string text) {
    faults.push_back({fmt::format("line {}: {}", line, text), {}});
    return false;
  }
  std::string found() const { return next < words.size() ? fmt::format("'{}'", words[next]) : "the end of the line"; }
  bool at(std::string_view word) const { return next < words.size() && words[next] == word; }
  bool expect(std::string_view word) {
    if (!at(word))
      return fail(fmt::format("expected '{}', found {}", word, found()));
    ++next;
    return true;
  }

  /// Reads PREFIX and a number in [low, high], in one word.
  template <typename T> bool number(std::string_view prefix, const char *what, uint64_t low, uint64_t high, T &value) {
    std::string_view word = next < words.size() ? std::string_view(words[next]) : std::string_view();
    uint64_t parsed = 0;
    bool ok = word.starts_with(prefix) && word.size() > prefix.size();
    if (ok) {
      auto [end, error] = std::from_chars(word.data() + prefix.size(), word.data() + word.size(), parsed);
      ok = error == std::errc() && end == word.data() + word.size();
    }
    if (!ok)
      return fail(fmt::format("expected {} ({}), found {}", what,
                              prefix.empty() ? "a number" : fmt::format("{}N", prefix), found()));
    if (parsed < low || parsed > high)
      return fail(high < low ? fmt::format("{} {} is named, there is none", what, parsed)
                             : fmt::format("{} is {}; legal: {}..{}", what, parsed, low, high));
    value = T(parsed);
    ++next;
    return true;
  }

  bool parseLine() {
    if (at("schedule") || at("trace"))
      return parseHeader();
    if (!header) {
      if (!complained)
        fail(fmt::format("expected 'schedule stages P chunks V microbatches M' before {}", found()));
      complained = true;
      next = words.size();
      return false;
    }
    if (at("message"))
      return parseMessage();
    if (at("stage")) {
      rowsRead = parseStage();
      stagesRead &= rowsRead;
      return rowsRead;
    }
    if (rowsRead)
      return parseRow();
    next = words.size(); // whose rows these are, or on which streams, is what could not be read
    return false;
  }

  bool parseHeader() {
    if (header)
      return fail(fmt::format("a second '{}' line", words[next]));
    tables.piece = at("trace");
    ++next;
    header = expect("stages") && number("", "stages", 1, 32768, stages) && expect("chunks") &&
             number("", "chunks", 1, maxChunks, tables.chunks) && expect("microbatches") &&
             number("", "microbatches", 1, 1u << 24, tables.microbatches);
    complained = !header;
    return header;
  }

  bool place(uint32_t &stage, uint16_t &chunk) {
    size_t dot = next < words.size() ? words[next].find('.') : std::string::npos;
    if (dot == std::string::npos)
      return fail(fmt::format("expected STAGE.CHUNK, found {}", found()));
    std::string chunkWord = words[next].substr(dot + 1);
    words[next].resize(dot);
    if (!number("", "stage", 0, stages - 1, stage))
      return false;
    words[--next] = chunkWord;
    return number("", "chunk", 0, tables.chunks - 1, chunk);
  }

  bool values(Values &values) {
    if (!at("activation") && !at("gradient"))
      return fail(fmt::format("expected 'activation' or 'gradient', found {}", found()));
    values = at("activation") ? Values::Activation : Values::Gradient;
    ++next;
    return true;
  }

  bool parseMessage() {
    ++next;
    Message message;
    if (!values(message.values) || !place(message.from, message.fromChunk) || !expect("->") ||
        !place(message.to, message.toChunk))
      return false;
    if (message.from == message.to)
      return fail(fmt::format("a message from stage {} to itself", message.from));
    if (tables.messages.size() > UINT16_MAX)
      return fail("more than 65536 messages");
    tables.messages.push_back(message);
    return !at("on") || parseCommunicator();
  }

  /// `on NAME`: all messages name a communicator, or none does.
  bool parseCommunicator() {
    ++next;
    if (next == words.size())
      return fail("expected the name of a communicator, found the end of the line");
    auto &names = tables.communicatorNames;
    auto known = std::find(names.begin(), names.end(), words[next]);
    tables.communicators.push_back(uint32_t(known - names.begin()));
    if (known == names.end())
      names.push_back(words[next]);
    ++next;
    return true;
  }

  bool parseStage() {
    ++next;
    size_t due = tables.stages.size();
    uint32_t stage = uint32_t(due);
    bool named = number("", "stage", 0, stages - 1, stage);
    tables.stages.resize(std::max<size_t>(due, stage));
    Table &table = tables.stages.emplace_back();
    if (!named)
      return false;
    if (stage != due)
      return fail(fmt::format("stage {} is described where stage {} is due", stage, due));
    if (!expect("slots"))
      return false;
    if (!number("", "slots", 0, uint64_t(tables.chunks) * tables.microbatches, table.slots)) {
      table.slots = UINT32_MAX; // told here, and not at each row
      next += next < words.size() && !at("streams");
    }
    if (!expect("streams"))
      return false;
    for (bool first = true; first || at(","); first = false) {
      if (!first)
        ++next;
      if (next == words.size() || at(",") || at(":"))
        return fail(fmt::format("expected the name of a stream, found {}", found()));
      if (std::find(table.streams.begin(), table.streams.end(), words[next]) != table.streams.end())
        return fail(fmt::format("stream '{}' is named twice", words[next]));
      table.streams.push_back(words[next++]);
    }
    if (table.streams.size() > maxStreams)
      return fail(fmt::format("{} streams; at most {}", table.streams.size(), maxStreams));
    return true;
  }

  template <typename T> bool stream(T &index) {
    const std::vector<std::string> &streams = tables.stages.back().streams;
    auto known = std::find(streams.begin(), streams.end(), next < words.size() ? words[next] : "");
    if (known == streams.end())
      return fail(fmt::format("expected a stream of stage {} ({}), found {}{}", tables.stages.size() - 1,
                              fmt::join(streams, ", "), found(),
                              next < words.size() ? didYouMean(words[next], streams) : ""));
    index = T(known - streams.begin());
    ++next;
    return true;
  }

  bool parseRow() {
    if (tables.stages.empty())
      return fail(fmt::format("expected 'message' or 'stage', found {}", found()));
    Row row;
    if (!stream(row.stream) || !expect(":"))
      return false;
    bool read = at("send") || at("receive") ? parseTransfer(row) : parseBody(row);
    if (!read || (at("after") && !parseWaits(row)))
      return false;
    tables.stages.back().rows.push_back(row);
    return true;
  }

  bool parseBody(Row &row) {
    std::vector<std::string> names = {"send", "receive"};
    unsigned kind = 0;
    for (unsigned k = 0; k < scheduledKinds; ++k)
      names.push_back(name(BodyKind(k)));
    while (kind < scheduledKinds && !at(name(BodyKind(kind))))
      ++kind;
    if (kind == scheduledKinds)
      return fail(fmt::format("expected one of {}, found {}{}", fmt::join(names, ", "), found(),
                              next < words.size() ? didYouMean(words[next], names) : ""));
    ++next;
    unsigned chunk = 0;
    if (!oncePerStep(BodyKind(kind)) &&
        (!number("c", "chunk", 0, tables.chunks - 1, chunk) || !instance(row) || !slot(row)))
      return false;
    row.index = bodyIndex(BodyKind(kind), chunk);
    return true;
  }

  bool instance(Row &row) { return number("m", "microbatch", 0, tables.microbatches - 1, row.microbatch); }
  bool slot(Row &row) {
    uint32_t slots = tables.stages.back().slots;
    return expect("slot") && number("", "slot", slots ? 0 : 1, slots ? slots - 1 : 0, row.slot);
  }

  bool parseTransfer(Row &row) {
    bool send = at("send");
    row.kind = send ? RowKind::Send : RowKind::Receive;
    ++next;
    uint32_t stage = tables.stages.size() - 1, chunk = 0, peer = 0;
    Values which;
    if (!values(which) || !number("c", "chunk", 0, tables.chunks - 1, chunk) || !instance(row) ||
        !expect(send ? "to" : "from") || !number("", "stage", 0, stages - 1, peer) || !slot(row))
      return false;
    for (size_t i = 0; i < tables.messages.size(); ++i) {
      const Message &message = tables.messages[i];
      if (message.values == which && (send ? message.from : message.to) == stage &&
          (send ? message.to : message.from) == peer && (send ? message.fromChunk : message.toChunk) == chunk) {
        row.index = uint16_t(i);
        return true;
      }
    }
    return fail(fmt::format("no message line declares the {} that chunk {} of stage {} {} stage {}", name(which), chunk,
                            stage, send ? "sends to" : "receives from", peer));
  }

  bool parseWaits(Row &row) {
    do {
      ++next;
      unsigned index = 0;
      if (!stream(index) || !number("", "count of rows", 1, UINT32_MAX, row.wait[index]))
        return false;
    } while (at(","));
    return true;
  }

  Faults &faults;
  Tables tables;
  uint32_t stages = 0, line = 0;
  bool header = false, complained = false;
  bool rowsRead = true, stagesRead = true; ///< the last line of a stage was read; all were
  std::vector<std::string> words;
  size_t next = 0;
};

} // namespace

std::optional<Tables> parseTables(std::string_view text, Faults &faults) { return Parser(faults).parse(text); }

} // namespace hocket::schedule
