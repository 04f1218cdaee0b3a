// The judge's checks that need no order of rows: ranges, the messages of a problem, the order on each edge.
#include "passes/Schedule/Deadlock.h"
#include "passes/Schedule/Judge.h"

#include <algorithm>
#include <fmt/format.h>

namespace hocket::schedule {
namespace {

/// Says of one row of stage `stage` what is out of range.
class RowShape {
public:
  RowShape(const Tables &tables, uint32_t stage, Faults &faults) : tables(tables), stage(stage), faults(faults) {
    for (const Row &row : table().rows)
      if (row.stream < maxStreams)
        ++rows[row.stream];
  }

  void check(size_t number, const Row &row) {
    at = number;
    within("stream", row.stream, table().streams.size());
    for (unsigned s = 0; s < maxStreams; ++s)
      if (row.wait[s] > (s < table().streams.size() ? rows[s] : 0))
        say(fmt::format("waits for {} rows of stream {}, which has {}", row.wait[s],
                        s < table().streams.size() ? table().streams[s] : fmt::format("{}", s), rows[s]));
    if (row.kind == RowKind::Body) {
      within("chunk", bodyChunk(row), tables.chunks);
      if (oncePerStep(bodyKind(row)))
        return;
    } else {
      if (!within("message", row.index, tables.messages.size()))
        return;
      const Message &message = tables.messages[row.index];
      bool send = row.kind == RowKind::Send;
      if ((send ? message.from : message.to) != stage)
        say(fmt::format("is the {} of a message from stage {} to stage {}", send ? "send" : "receive", message.from,
                        message.to));
    }
    within("microbatch", row.microbatch, tables.microbatches);
    within("slot", row.slot, table().slots);
  }

private:
  const Table &table() const { return tables.stages[stage]; }
  void say(const std::string &text) { faults.push_back({fmt::format("stage {}, row {} {}", stage, at, text), {}}); }
  bool within(const char *what, uint64_t value, uint64_t count) {
    if (value < count)
      return true;
    say(count ? fmt::format("has {} {}; legal: 0..{}", what, value, count - 1)
              : fmt::format("has {} {}; there is none", what, value));
    return false;
  }

  const Tables &tables;
  uint32_t stage;
  Faults &faults;
  size_t at = 0;
  std::array<uint32_t, maxStreams> rows{};
};

std::string say(const Message &message) {
  return fmt::format("{} from stage {} chunk {} to stage {} chunk {}", name(message.values), message.from,
                     message.fromChunk, message.to, message.toChunk);
}

} // namespace

bool checkShape(const Tables &tables, Faults &faults) {
  size_t before = faults.size();
  uint64_t rows = 0;
  for (const Table &table : tables.stages)
    rows += table.rows.size();
  if (rows >= noRow || tables.messages.size() > 65536 || tables.chunks > maxChunks || tables.stages.size() > 32768)
    faults.push_back({fmt::format("{} rows, {} messages, {} chunks, {} stages; at most {}, 65536, {}, 32768", rows,
                                  tables.messages.size(), tables.chunks, tables.stages.size(), noRow - 1, maxChunks),
                      {}});
  for (const Message &message : tables.messages)
    if (message.from == message.to || std::max(message.from, message.to) >= tables.stages.size() ||
        std::max(message.fromChunk, message.toChunk) >= tables.chunks)
      faults.push_back({fmt::format("message {}: it must join two of {} stages with {} chunks each", say(message),
                                    tables.stages.size(), tables.chunks),
                        {}});
  if (faults.size() != before)
    return false;
  for (uint32_t s = 0; s < tables.stages.size(); ++s) {
    const Table &table = tables.stages[s];
    if (table.streams.empty() || table.streams.size() > maxStreams) {
      faults.push_back({fmt::format("stage {} has {} streams; legal: 1..{}", s, table.streams.size(), maxStreams), {}});
      continue;
    }
    RowShape shape(tables, s, faults);
    for (size_t i = 0; i < table.rows.size() && faults.size() < before + maxFaults; ++i)
      shape.check(i, table.rows[i]);
  }
  return faults.size() == before;
}

bool checkFit(const Problem &problem, const Tables &tables, Faults &faults) {
  size_t before = faults.size();
  auto same = [&](const char *what, uint64_t found, uint64_t wanted) {
    if (found != wanted)
      faults.push_back({fmt::format("the tables are for {} {}, the problem has {}", found, what, wanted), {}});
  };
  same("stages", tables.stages.size(), problem.stages);
  same("chunks a stage", tables.chunks, problem.chunks);
  same("microbatches", tables.microbatches, problem.microbatches);
  if (faults.size() != before)
    return false;
  auto less = [](const Message &a, const Message &b) {
    return std::tuple(a.from, a.to, a.fromChunk, a.toChunk, a.values) <
           std::tuple(b.from, b.to, b.fromChunk, b.toChunk, b.values);
  };
  std::vector<Message> wanted = messagesOf(problem), found = tables.messages;
  std::sort(wanted.begin(), wanted.end(), less);
  std::sort(found.begin(), found.end(), less);
  std::vector<Message> missing, extra;
  std::set_difference(wanted.begin(), wanted.end(), found.begin(), found.end(), std::back_inserter(missing), less);
  std::set_difference(found.begin(), found.end(), wanted.begin(), wanted.end(), std::back_inserter(extra), less);
  for (const Message &message : missing)
    faults.push_back({fmt::format("no message carries the {}", say(message)), {}});
  for (const Message &message : extra)
    faults.push_back({fmt::format("message {}: no neighbouring chunks of the model lie there", say(message)), {}});
  return faults.size() == before;
}

std::string sayWhere(const RowGraph &graph, const Execution &execution, RowId id) {
  double time = execution.start[id];
  return fmt::format("stage {}, {}: {}", graph.stageOf[id], time == never ? "never" : fmt::format("time {}", time),
                     describe(graph.tables, graph.row(id)));
}

static void checkOneStream(const RowGraph &graph, const EdgeRows &edge, const std::vector<RowId> &rows,
                           Faults &faults) {
  auto other =
      std::find_if(rows.begin(), rows.end(), [&](RowId id) { return graph.keyOf(id) != graph.keyOf(rows[0]); });
  if (other == rows.end())
    return;
  const Table &table = graph.tables.stages[graph.stageOf[*other]];
  faults.push_back(
      {fmt::format("edge {} -> {}: stage {} has its messages on streams {} and {}; one stream must carry an "
                   "edge, else its order is open",
                   edge.from, edge.to, graph.stageOf[*other], table.streams[graph.row(rows[0]).stream],
                   table.streams[graph.row(*other).stream]),
       {}});
}

void checkEdges(const RowGraph &graph, const Execution &execution, Faults &faults) {
  for (const EdgeRows &edge : graph.edges) {
    checkOneStream(graph, edge, edge.sends, faults);
    checkOneStream(graph, edge, edge.receives, faults);
    for (RowId send : edge.sends) {
      RowId receive = graph.partner[send];
      if (receive == noRow)
        continue;
      const Row &sent = graph.row(send), &received = graph.row(receive);
      bool same = sent.index == received.index && sent.microbatch == received.microbatch;
      if (same && graph.edgePosition[send] == graph.edgePosition[receive])
        continue;
      // A pair at unequal places is the consequence of a missing or doubled row, which is told where it is missing.
      if (!same)
        faults.push_back({fmt::format("edge {} -> {}: message {} is sent as one and received as another", edge.from,
                                      edge.to, graph.edgePosition[send]),
                          {sayWhere(graph, execution, send), sayWhere(graph, execution, receive)}});
      break;
    }
  }
}

Faults judgeMessages(const Tables &tables, Semantics semantics) {
  Faults faults;
  if (!checkShape(tables, faults))
    return faults;
  RowGraph graph(tables);
  Problem problem;
  problem.times = {Times{.recompute = 1, .begin = 1, .update = 1}};
  Execution execution = execute(graph, problem, semantics);
  for (RowId id = 0; id < graph.size() && faults.size() < maxFaults; ++id)
    if (graph.row(id).kind != RowKind::Body && graph.partner[id] == noRow)
      faults.push_back(
          {fmt::format("{} has no {}", sayWhere(graph, execution, id), graph.isSend(id) ? "receive" : "send"), {}});
  checkEdges(graph, execution, faults);
  if (std::optional<Fault> deadlock = findDeadlock(graph, execution, semantics))
    faults.push_back(*deadlock);
  checkResident(problem, graph, execution, semantics, faults);
  return faults;
}

} // namespace hocket::schedule
