// See DeviceModel.h.
#include "DeviceModel.h"
#include "runtime/Program/Check.h"
#include "runtime/Program/Mesh.h"
#include "runtime/Program/OpKinds.h"
#include <algorithm>
#include <map>
#include <numeric>
using namespace hocket;
using namespace hocket::program;

namespace {
/// One device's queues while they are filled.
struct Queues {
  std::vector<int64_t> last;                  // by stream, of the entry and of bodies: -1 where nothing is queued
  std::vector<std::vector<uint32_t>> rowEnds; // by stream of the entry
};
} // namespace

DeviceModel::DeviceModel(const Program &program, std::string_view name) {
  Mesh mesh(program);
  ranks = mesh.worldSize();
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const RankProgram &own = *program.ranks()->Get(stageOf(mesh, program, rank));
    queue(program, own, *findEntry(own, name), rank);
  }
  // The n-th call of each member on a communicator meets the n-th of the others.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> made; // by rank, communicator
  std::map<std::tuple<uint32_t, std::vector<uint32_t>, uint32_t>, int64_t> known;
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].call < 0)
      continue;
    auto communicator = uint32_t(pieces[i].call);
    std::vector<uint32_t> who = members(mesh, pieces[i].rank, *program.communicators()->Get(communicator));
    auto [at, fresh] = known.try_emplace({communicator, who, made[{pieces[i].rank, communicator}]++}, calls.size());
    if (fresh)
      calls.emplace_back();
    calls[size_t(at->second)].push_back(i);
    pieces[i].call = at->second;
  }
}

void DeviceModel::queue(const Program &, const RankProgram &own, const Entry &entry, uint32_t rank) {
  size_t streams = entry.streams()->size(), bodyStreams = own.bodyStreams() ? own.bodyStreams()->size() : 0;
  Queues queues{std::vector<int64_t>(streams + bodyStreams, -1), std::vector<std::vector<uint32_t>>(streams)};
  auto add = [&](size_t stream, std::vector<uint32_t> after, int64_t call) {
    if (queues.last[stream] >= 0)
      after.push_back(uint32_t(queues.last[stream]));
    pieces.push_back({rank, std::move(after), call});
    queues.last[stream] = int64_t(pieces.size() - 1);
    return uint32_t(pieces.size() - 1);
  };
  for (const Row *row : *entry.rows()) {
    std::vector<uint32_t> waits;
    for (uint32_t other = 0; other < streams; ++other)
      if (uint32_t count = row->wait()->Get(other))
        waits.push_back(queues.rowEnds[other].at(count - 1));
    if (row->kind() != RowKind::Body) {
      uint32_t piece = add(row->stream(), waits, own.messages()->Get(row->index())->communicator());
      queues.rowEnds[row->stream()].push_back(piece);
      continue;
    }
    add(0, waits, -1);
    std::vector<std::vector<uint32_t>> started(bodyStreams);
    for (const Instruction *each : *own.bodies()->Get(row->index())->instructions()) {
      uint32_t stream = each->stream();
      if (each->op() == Op::Await)
        add(0, {started[stream - 1].at(each->awaited() - 1)}, -1);
      else if (stream)
        started[stream - 1].push_back(add(streams + stream - 1, {uint32_t(queues.last[0])}, each->communicator()));
      else
        add(0, {}, isCollective(each->op()) ? int64_t(each->communicator()) : -1);
    }
    queues.rowEnds[0].push_back(uint32_t(queues.last[0]));
  }
}

bool DeviceModel::endsWith(size_t places, std::mt19937 *random) const {
  std::vector<std::vector<uint32_t>> behind(pieces.size());
  std::vector<size_t> open(pieces.size()), taken(ranks), come(calls.size());
  std::vector<std::vector<uint32_t>> ready(ranks); // calls for which only a place is missing
  std::vector<uint32_t> done;                      // of which those behind do not know yet
  size_t left = pieces.size();
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    open[i] = pieces[i].after.size();
    for (uint32_t before : pieces[i].after)
      behind[before].push_back(i);
  }
  auto begin = [&](uint32_t piece) {
    if (pieces[piece].call < 0)
      done.push_back(piece);
    else
      ready[pieces[piece].rank].push_back(piece);
  };
  for (uint32_t i = 0; i < pieces.size(); ++i)
    if (!open[i])
      begin(i);
  for (;;) {
    for (; !done.empty(); --left) {
      uint32_t piece = done.back();
      done.pop_back();
      for (uint32_t next : behind[piece])
        if (!--open[next])
          begin(next);
    }
    std::vector<uint32_t> able;
    for (uint32_t rank = 0; rank < ranks; ++rank)
      if (taken[rank] < places && !ready[rank].empty())
        able.push_back(rank);
    if (able.empty())
      return left == 0;
    uint32_t rank = able[random ? (*random)() % able.size() : 0];
    auto at = random ? ready[rank].begin() + std::ptrdiff_t((*random)() % ready[rank].size())
                     : std::max_element(ready[rank].begin(), ready[rank].end());
    const std::vector<uint32_t> &meeting = calls[size_t(pieces[*at].call)];
    size_t &here = come[size_t(pieces[*at].call)];
    ready[rank].erase(at);
    ++taken[rank];
    if (++here < meeting.size())
      continue;
    for (uint32_t piece : meeting) {
      --taken[pieces[piece].rank];
      done.push_back(piece);
    }
  }
}

bool DeviceModel::endsInOrderOfIssue() const {
  std::vector<std::vector<uint32_t>> issued(ranks); // calls of each
  for (const Piece &piece : pieces)
    if (piece.call >= 0)
      issued[piece.rank].push_back(uint32_t(piece.call));
  std::vector<size_t> at(ranks);
  std::vector<size_t> come(calls.size());
  std::vector<uint32_t> toSee(ranks);
  std::iota(toSee.begin(), toSee.end(), 0);
  while (!toSee.empty()) {
    uint32_t rank = toSee.back();
    toSee.pop_back();
    if (at[rank] == issued[rank].size())
      continue;
    uint32_t call = issued[rank][at[rank]];
    if (++come[call] < calls[call].size())
      continue; // it stands there until the last has come
    for (uint32_t piece : calls[call]) {
      ++at[pieces[piece].rank];
      toSee.push_back(pieces[piece].rank);
    }
  }
  for (uint32_t rank = 0; rank < ranks; ++rank)
    if (at[rank] < issued[rank].size())
      return false;
  return true;
}
