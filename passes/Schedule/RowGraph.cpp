// Numbers rows and pairs sends with receives.
#include "passes/Schedule/RowGraph.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>

namespace hocket::schedule {

std::optional<Semantics> parseSemantics(const std::string &text, Faults &faults) {
  if (text == "rendezvous")
    return Semantics{0};
  if (text == "nccl")
    return Semantics{.nccl = true};
  auto numberAfter = [&](std::string_view prefix) {
    uint32_t number = 0;
    if (!text.starts_with(prefix))
      return number;
    auto [end, error] = std::from_chars(text.data() + prefix.size(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : 0;
  };
  if (uint32_t buffers = numberAfter("buffered:"))
    return Semantics{buffers};
  if (uint32_t resident = numberAfter("nccl:"))
    return Semantics{.nccl = true, .resident = resident};
  faults.push_back({fmt::format("unknown semantics '{}'; known: rendezvous, nccl, nccl:R (R communication kernels at "
                                "work on a rank at a time, 1 or more), buffered:K (K messages, 1 or more)",
                                text),
                    {}});
  return std::nullopt;
}

std::string name(Semantics semantics) {
  if (semantics.nccl)
    return semantics.resident == maxStreams ? "nccl" : fmt::format("nccl:{}", semantics.resident);
  return semantics.rendezvous() ? "rendezvous" : fmt::format("buffered:{}", semantics.buffers);
}

RowGraph::RowGraph(const Tables &tables, bool oneCommunicator) : tables(tables) {
  RowId total = 0;
  for (const Table &table : tables.stages) {
    firstOfStage.push_back(total);
    total += RowId(table.rows.size());
  }
  firstOfStage.push_back(total);
  stageOf.resize(total);
  position.resize(total);
  partner.assign(total, noRow);
  edgePosition.assign(total, 0);
  edgeOf.assign(total, ~0u);
  streamRows.resize(tables.stages.size() * maxStreams);
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> edgeIndex;
  std::vector<uint32_t> edgeOfMessage;
  for (const Message &message : tables.messages) {
    auto [entry, isNew] = edgeIndex.try_emplace({message.from, message.to}, uint32_t(edges.size()));
    if (isNew)
      edges.push_back({message.from, message.to, {}, {}});
    edgeOfMessage.push_back(entry->second);
  }
  communicatorOf = oneCommunicator                ? std::vector<uint32_t>(tables.messages.size(), 0)
                   : tables.communicators.empty() ? edgeOfMessage
                                                  : tables.communicators;
  for (uint32_t s = 0; s < tables.stages.size(); ++s)
    for (RowId id = firstOfStage[s]; id < firstOfStage[s + 1]; ++id) {
      stageOf[id] = s;
      const Row &row = tables.stages[s].rows[id - firstOfStage[s]];
      std::vector<RowId> &stream = streamRows[s * maxStreams + row.stream];
      position[id] = uint32_t(stream.size());
      stream.push_back(id);
      if (row.kind == RowKind::Body)
        continue;
      edgeOf[id] = edgeOfMessage[row.index];
      EdgeRows &edge = edges[edgeOf[id]];
      std::vector<RowId> &end = row.kind == RowKind::Send ? edge.sends : edge.receives;
      edgePosition[id] = uint32_t(end.size());
      end.push_back(id);
    }
  pairEdges();
  orderLaunches();
}

void RowGraph::orderLaunches() {
  launchedBefore.assign(size(), noRow);
  std::map<uint32_t, RowId> last; // by communicator
  for (uint32_t s = 0; s < tables.stages.size(); ++s) {
    last.clear();
    for (RowId id = firstOfStage[s]; id < firstOfStage[s + 1]; ++id) {
      if (row(id).kind == RowKind::Body)
        continue;
      RowId &before = last.try_emplace(communicatorOf[row(id).index], noRow).first->second;
      launchedBefore[id] = before;
      before = id;
    }
  }
}

void RowGraph::pairEdges() {
  using Key = std::pair<uint64_t, RowId>; // (message, microbatch), row
  auto keys = [&](const std::vector<RowId> &rows) {
    std::vector<Key> keys;
    for (RowId id : rows)
      keys.push_back({uint64_t(row(id).index) << 32 | row(id).microbatch, id});
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  auto pair = [&](RowId send, RowId receive) {
    partner[send] = receive;
    partner[receive] = send;
  };
  for (EdgeRows &edge : edges) {
    std::vector<Key> sends = keys(edge.sends), receives = keys(edge.receives);
    bool same = std::equal(sends.begin(), sends.end(), receives.begin(), receives.end(),
                           [](const Key &a, const Key &b) { return a.first == b.first; });
    if (same) {
      for (size_t i = 0; i < sends.size(); ++i)
        pair(edge.sends[i], edge.receives[i]);
      continue;
    }
    for (size_t i = 0, j = 0; i < sends.size() && j < receives.size();) {
      if (sends[i].first == receives[j].first)
        pair(sends[i++].second, receives[j++].second);
      else
        ++(sends[i].first < receives[j].first ? i : j);
    }
  }
}

RowId RowGraph::bufferedBehind(RowId id, Semantics semantics) const {
  const EdgeRows &edge = edges[edgeOf[id]];
  uint32_t at = edgePosition[id];
  if (partner[id] == noRow || at < semantics.buffers)
    return noRow;
  return partner[edge.sends[at - semantics.buffers]];
}

} // namespace hocket::schedule
