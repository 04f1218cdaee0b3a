// What the launcher tells a rank. Ranks are exec'd: everything travels in one environment variable as JSON, and the
// descriptors named here are inherited.
#ifndef HOCKET_RUNTIME_EXECUTOR_RUNOPTIONS_H
#define HOCKET_RUNTIME_EXECUTOR_RUNOPTIONS_H

#include "runtime/Data/DataSource.h"
#include "runtime/Program/Result.h"
#include <atomic>
#include <optional>
#include <vector>

namespace hocket::runtime {

inline constexpr char runVariable[] = "HOCKET_RUN";

struct RunOptions {
  int rank = 0;
  int world = 1;
  int launcher = 0; // its process id
  DataSource data;
  uint64_t steps = 0;     // run until this step, counted from the start of training
  uint64_t seed = 0;      // the recipe's, or the one that overrides it
  std::string evalData;   // held-out file, in all else like the data; empty: no evaluation
  uint64_t evalEvery = 0; // steps; 0: only before the first step and after the last
  uint64_t evalSteps = 0; // at most so many batches of the held-out file; 0: all
  double timeoutSeconds = 60;
  bool checkFinite = false;
  int localRank = 0;               // among the ranks of its machine: the number of its GPU
  std::optional<uint64_t> emulate; // a program for GPUs runs on the emulator, with this seed
  std::string toolFolder;          // of hocket-run, beside which the emulator lies; empty: not known
  std::string calls;               // the rank writes its calls of communicators to this file (CallLog.h); empty: none
  std::string trace;               // the rank writes its events to this file; empty: none
  std::string dump;                // directory; empty: none
  std::vector<uint64_t> dumpSteps; // after these steps; 0: the initial values
  std::string save;                // directory of checkpoints; empty: none are saved
  uint64_t saveEvery = 0;          // steps; 0: only at the end
  uint32_t keep = 2;               // checkpoints
  std::vector<std::string> resume; // checkpoints to go on from, the first that is whole; empty: a new run
  int reports = -1;                // pipe: the rank writes one JSON line per event
  int release = -1;                // pipe: a finished rank reads it to its end before it exits
  int control = -1;                // memory of a RunControl

  std::string json() const;
  static Result<RunOptions> parse(const std::string &json);
  // From the environment; fails where the variable is missing.
  static Result<RunOptions> fromEnvironment();
};

// Shared by the launcher and all ranks: no rank begins a pass (a training step, a batch of an evaluation; counted in
// the status) after `stopAfter`. To stop early, the launcher lowers it to a pass that no rank has left behind as far as
// it can see, looks again, raises it if one has, and then says `stopDecided`; ranks announce a pass in their status
// before they look, and wait for the decision before they stop. So all ranks stop after the same pass, however close
// they run to the edge.
struct RunControl {
  std::atomic<uint64_t> stopAfter;
  std::atomic<uint32_t> stopDecided;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Maps the memory behind a descriptor of at least that size.
Result<RunControl *> mapRunControl(int descriptor);

} // namespace hocket::runtime
#endif
