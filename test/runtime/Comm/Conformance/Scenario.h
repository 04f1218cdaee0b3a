// The conformance suite of communicators: what every backend must do, run by real rank processes.
//
// A scenario is run by each of its ranks; a rank reports what is wrong with `fail` and goes on. A backend starts the
// ranks by executing this same program (see RankMain.cpp), so that nothing is shared but what the backend shares.
#ifndef HOCKET_TEST_RUNTIME_COMM_CONFORMANCE_SCENARIO_H
#define HOCKET_TEST_RUNTIME_COMM_CONFORMANCE_SCENARIO_H

#include "runtime/Comm/Communicator.h"
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hocket::test {

// Seconds that no healthy wait needs, also on a machine with much else to do.
inline constexpr double patience = 30;

class NcclRank;

// What a scenario sees of its rank.
struct Rank {
  runtime::World &world;
  std::vector<std::unique_ptr<runtime::Communicator>> communicators; // by group id; null where this rank is no member
  std::vector<std::string> faults;
  NcclRank *nccl = nullptr; // over NCCL, real or emulated
  // What real NCCL does not promise, nor the emulated one that is looked at in its way.
  bool anyMemory = true; // whether buffers may lie outside the arena
  bool inOrder = true;   // whether sums add in the order of members, and NaN passes through a max or min

  void fail(std::string text) {
    if (faults.size() < 10)
      faults.push_back(std::move(text));
  }
  void check(const runtime::Status &status) {
    if (status)
      return;
    fail(status.error().message);
    if (status.error().kind == runtime::ErrorKind::Timeout)
      std::exit(finish()); // what follows would only wait as long again
  }
  // Prints the faults; the rank's exit status.
  int finish() const {
    for (const std::string &fault : faults)
      std::puts(fault.c_str());
    return faults.empty() ? 0 : 1;
  }
  // Elements of the arena from a byte offset on.
  template <class T = std::byte> T *arena(size_t offset = 0) {
    return reinterpret_cast<T *>(world.arena().data() + offset);
  }
};

struct Scenario {
  int worldSize = 2;
  std::vector<runtime::Group> groups;
  std::function<void(Rank &)> run;
  size_t arenaBytes = 4 << 20;
  bool connects = true; // makes the communicators before it runs
};

const std::map<std::string, Scenario> &scenarios();
void addCollectiveScenarios(std::map<std::string, Scenario> &all);
void addMessageScenarios(std::map<std::string, Scenario> &all);
void addFailureScenarios(std::map<std::string, Scenario> &all);
void addNcclScenarios(std::map<std::string, Scenario> &all); // over NCCL alone

// How one rank ended: its exit status or, negative, the signal that ended it, and what it wrote.
struct Outcome {
  int status;
  std::string text;
};

class Backend {
public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  // Why a scenario cannot run on this machine; empty: it can.
  virtual std::string lacks(const std::string &scenario) const { return {}; }
  // Runs a scenario. `meanwhile`, when given, is called with the ranks' process ids once all have started.
  virtual std::vector<Outcome> run(const std::string &scenario,
                                   const std::function<void(const std::vector<int> &)> &meanwhile = {}) = 0;
  // In a rank's process: joins the world that `run` made.
  virtual runtime::Result<std::unique_ptr<runtime::World>> join(int rank) = 0;
};
Backend &shmBackend();
Backend &mpiBackend();
Backend &ncclBackend(); // the emulated NCCL
// NCCL over memory that the host does not see, a process and a GPU for each rank: of this machine with
// HOCKET_TEST_DEVICE=cuda, else of the emulator.
Backend &gpuBackend();
Backend &tcpBackend();
// Under mpirun: starts this rank and writes down how it ends, for MpiBackend. Returns the exit status.
int superviseRank();

} // namespace hocket::test
#endif
