// Looks at the statuses of all ranks, from the launcher or from rank 0: who stands still, who waits for whom, and where
// in the program each of them is.
#ifndef HOCKET_RUNTIME_EXECUTOR_WATCHDOG_H
#define HOCKET_RUNTIME_EXECUTOR_WATCHDOG_H

#include "runtime/Comm/StatusBoard.h"
#include "runtime/Executor/Groups.h"
#include <chrono>

namespace hocket::runtime {

class Watchdog {
public:
  // The program and the board outlive it; the board's groups are those of groupsOf(program).
  Watchdog(const program::Program &program, const StatusBoard &board, double timeoutSeconds);

  struct Verdict {
    std::vector<int> ranks; // at fault
    std::string reason;     // "made no progress for 5.4 s (--timeout 6)"
  };
  // To be called often. A rank is at fault if it has made no progress for 0.9 of the timeout (so that the report is out
  // within it) while it computes, or while its process is stopped; if all ranks wait, those that wait for nobody; if
  // there are none, it is a deadlock, and all are.
  std::optional<Verdict> check();

  // Ranks that this one waits for; empty when it does not wait.
  std::vector<int> waitsFor(int rank) const;
  // "rank 5 (pp=1 dp=0 tp=1, stage 1)", and where hosts are known "rank 5 (pp=1 dp=0 tp=1, stage 1, on host b)"
  std::string name(int rank) const;
  // Names of the hosts, by rank.
  void setHosts(std::vector<std::string> names) { hosts = std::move(names); }
  // "step 3, microbatch 2, forward_1 instruction 4 'linear h.3.attn.qkv.weight' (gpt.mlir:12:8), computing"
  std::string position(int rank) const;
  // The whole report: the fault, where the ranks at fault are, and who waits for them, directly or through others.
  std::string report(const Verdict &verdict) const;

private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    uint64_t heartbeat = 0;
    RankState state = RankState::Starting;
    Clock::time_point since;
  };
  std::string text(uint32_t index) const;
  std::vector<int> notThere(uint32_t group) const;

  const program::Program &program;
  const StatusBoard &board;
  program::Mesh mesh;
  GroupTable groups;
  std::vector<std::string> hosts;
  bool onDevice; // the program is for GPUs
  double timeoutSeconds, limitSeconds;
  std::vector<Seen> seen;
  Clock::time_point checked;
};

} // namespace hocket::runtime
#endif
