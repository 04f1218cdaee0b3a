// See GatheredStatuses.h.
#include "runtime/Comm/Mpi/GatheredStatuses.h"
#include <algorithm>
#include <cstring>

namespace hocket::runtime::mpi {
namespace {

// A record: this, then `counters` pairs of a group and the collectives that the rank has come to on it.
struct Head {
  int32_t rank;
  uint32_t state;
  uint64_t step, pass, heartbeat;
  int32_t pid;
  uint32_t evaluation, row, body, instruction, microbatch, communicator, counters;
};

} // namespace

GatheredStatuses::GatheredStatuses(int worldSize, int self)
    : ranks(worldSize), self(self), statuses(new RankStatus[static_cast<size_t>(worldSize)]),
      heard(static_cast<size_t>(worldSize), Clock::now()) {}

std::atomic<uint32_t> &GatheredStatuses::calls(uint32_t group) {
  std::lock_guard lock(mutex);
  return ownCalls.emplace_back(group, 0u).second;
}

std::string GatheredStatuses::record(int rank) const {
  const RankStatus &status = statuses[static_cast<size_t>(rank)];
  std::vector<uint32_t> counters;
  {
    std::lock_guard lock(mutex);
    if (rank == self)
      for (const auto &[group, count] : ownCalls)
        counters.insert(counters.end(), {group, count.load(std::memory_order_acquire)});
    else
      for (const auto &[group, counts] : othersCalls)
        if (auto found = counts.find(rank); found != counts.end())
          counters.insert(counters.end(), {group, found->second});
  }
  Head head{rank,
            static_cast<uint32_t>(status.state.load(std::memory_order_acquire)),
            status.step.load(),
            status.pass.load(),
            status.heartbeat.load(),
            status.pid.load(),
            status.evaluation.load(),
            status.row.load(),
            status.body.load(),
            status.instruction.load(),
            status.microbatch.load(),
            status.communicator.load(),
            static_cast<uint32_t>(counters.size() / 2)};
  std::string result(reinterpret_cast<const char *>(&head), sizeof head);
  return result.append(reinterpret_cast<const char *>(counters.data()), counters.size() * sizeof(uint32_t));
}

bool GatheredStatuses::store(std::string_view record) {
  Head head;
  if (record.size() < sizeof head)
    return false;
  std::memcpy(&head, record.data(), sizeof head);
  if (head.rank < 0 || head.rank >= ranks || head.rank == self ||
      (record.size() - sizeof head) / (2 * sizeof(uint32_t)) != head.counters)
    return false;
  RankStatus &status = statuses[static_cast<size_t>(head.rank)];
  status.pid = head.pid;
  status.step = head.step;
  status.pass = head.pass;
  status.evaluation = head.evaluation;
  status.heartbeat = head.heartbeat;
  status.row = head.row;
  status.body = head.body;
  status.instruction = head.instruction;
  status.microbatch = head.microbatch;
  status.communicator = head.communicator;
  if (status.state.load() != RankState::Failed)
    status.state = static_cast<RankState>(head.state);
  std::lock_guard lock(mutex);
  heard[static_cast<size_t>(head.rank)] = Clock::now();
  for (uint32_t i = 0; i < head.counters; ++i) {
    uint32_t pair[2];
    std::memcpy(pair, record.data() + sizeof head + i * sizeof pair, sizeof pair);
    othersCalls[pair[0]][head.rank] = pair[1];
  }
  return true;
}

std::vector<int> GatheredStatuses::behind(const Group &group) const {
  std::lock_guard lock(mutex);
  auto others = othersCalls.find(group.id);
  auto callsOf = [&](int rank) -> uint32_t {
    if (rank == self) {
      for (const auto &[id, count] : ownCalls)
        if (id == group.id)
          return count.load(std::memory_order_acquire);
      return 0;
    }
    if (others == othersCalls.end())
      return 0;
    auto found = others->second.find(rank);
    return found == others->second.end() ? 0 : found->second;
  };
  // Counters wrap: members are at most a few collectives apart, so the sign of a difference tells who is ahead.
  auto ahead = [](uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; };
  uint32_t furthest = callsOf(group.ranks[0]);
  for (int rank : group.ranks)
    furthest = ahead(callsOf(rank), furthest) ? callsOf(rank) : furthest;
  std::vector<int> missing;
  for (int rank : group.ranks)
    if (ahead(furthest, callsOf(rank)))
      missing.push_back(rank);
  return missing;
}

double GatheredStatuses::secondsSinceHeard(int rank) const {
  if (rank == self)
    return 0;
  std::lock_guard lock(mutex);
  return std::chrono::duration<double>(Clock::now() - heard[static_cast<size_t>(rank)]).count();
}

bool GatheredStatuses::stopped(int rank) const { return secondsSinceHeard(rank) > 1; }

} // namespace hocket::runtime::mpi
