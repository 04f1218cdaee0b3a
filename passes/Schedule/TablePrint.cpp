// Tables to text.
#include "passes/Schedule/TableText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

namespace hocket::schedule {

std::string printRow(const Tables &tables, uint32_t stage, const Row &row) {
  const Table &table = tables.stages[stage];
  std::string text = table.streams[row.stream] + ": ";
  auto out = std::back_inserter(text);
  if (row.kind == RowKind::Body) {
    text += name(bodyKind(row));
    if (!oncePerStep(bodyKind(row)))
      fmt::format_to(out, " c{} m{} slot {}", bodyChunk(row), row.microbatch, row.slot);
  } else {
    const Message &message = tables.messages[row.index];
    bool send = row.kind == RowKind::Send;
    fmt::format_to(out, "{} {} c{} m{} {} {} slot {}", send ? "send" : "receive", name(message.values),
                   send ? message.fromChunk : message.toChunk, row.microbatch, send ? "to" : "from",
                   send ? message.to : message.from, row.slot);
  }
  const char *separator = " after ";
  for (unsigned s = 0; s < table.streams.size(); ++s)
    if (row.wait[s]) {
      fmt::format_to(out, "{}{} {}", separator, table.streams[s], row.wait[s]);
      separator = ", ";
    }
  return text;
}

std::string printTables(const Tables &tables) {
  std::string text = fmt::format("{} stages {} chunks {} microbatches {}\n", tables.piece ? "trace" : "schedule",
                                 tables.stages.size(), tables.chunks, tables.microbatches);
  auto out = std::back_inserter(text);
  for (size_t i = 0; i < tables.messages.size(); ++i)
    fmt::format_to(
        out, "message {}{}\n", name(tables.messages[i]),
        tables.communicators.empty() ? "" : fmt::format(" on {}", tables.communicatorNames[tables.communicators[i]]));
  for (uint32_t s = 0; s < tables.stages.size(); ++s) {
    const Table &table = tables.stages[s];
    fmt::format_to(out, "stage {} slots {} streams {}\n", s, table.slots, fmt::join(table.streams, ", "));
    for (const Row &row : table.rows)
      fmt::format_to(out, "  {}\n", printRow(tables, s, row));
  }
  return text;
}

} // namespace hocket::schedule
