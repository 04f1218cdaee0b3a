// The statuses of all ranks as far as they are known here: this rank writes its own, those of others come as records
// over the lifeline (Lifeline.h) and may be as old as its period.
#ifndef HOCKET_RUNTIME_COMM_MPI_GATHEREDSTATUSES_H
#define HOCKET_RUNTIME_COMM_MPI_GATHEREDSTATUSES_H

#include "runtime/Comm/StatusBoard.h"
#include <chrono>
#include <deque>
#include <map>
#include <mutex>

namespace hocket::runtime::mpi {

class GatheredStatuses : public StatusBoard {
public:
  GatheredStatuses(int worldSize, int self);

  int worldSize() const override { return ranks; }
  const RankStatus &status(int rank) const override { return statuses[static_cast<size_t>(rank)]; }
  std::vector<int> behind(const Group &group) const override;
  // Not heard of for a while that is long against the period of records.
  bool stopped(int rank) const override;

  RankStatus &own() { return statuses[static_cast<size_t>(self)]; }
  // A counter of the collectives of one of this rank's communicators; lives as long as the board.
  std::atomic<uint32_t> &calls(uint32_t group);

  // This rank's record, or the last of another rank, and what `store` makes of it on another host. False if it is none.
  std::string record(int rank) const;
  bool store(std::string_view record);
  double secondsSinceHeard(int rank) const;

private:
  using Clock = std::chrono::steady_clock;
  const int ranks, self;
  std::unique_ptr<RankStatus[]> statuses;
  mutable std::mutex mutex; // of what follows
  std::deque<std::pair<uint32_t, std::atomic<uint32_t>>> ownCalls;
  std::map<uint32_t, std::map<int, uint32_t>> othersCalls; // by group, rank
  std::vector<Clock::time_point> heard;
};

} // namespace hocket::runtime::mpi
#endif
