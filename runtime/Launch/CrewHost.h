// A rank that mpirun, srun or torchrun has started (see RankHost.h). Rank 0 shows progress and writes metrics.
#ifndef HOCKET_RUNTIME_LAUNCH_CREWHOST_H
#define HOCKET_RUNTIME_LAUNCH_CREWHOST_H

#include "runtime/Executor/OutOfMemory.h"
#include "runtime/Executor/RankHost.h"
#include "runtime/Launch/CrewMonitor.h"
#include "runtime/Launch/Progress.h"
#include "runtime/Program/StepCounts.h"

namespace hocket::run {

class CrewHost : public runtime::RankHost {
public:
  // Everything outlives the host. `progress`: opened on rank 0.
  CrewHost(const program::Program &program, runtime::HostsWorld &world, Crew &crew, const Options &options,
           Progress &progress);

  runtime::World &world() override { return hosts; }
  runtime::RankStatus &status() override { return hosts.statuses().own(); }
  bool mayBegin(uint64_t pass) override { return monitor.mayBegin(pass); }
  void report(const nlohmann::json &event) override;
  // Meets all ranks, and rank 0 writes the last lines.
  runtime::Status leave() override;
  void fail(const runtime::Error &error) override { monitor.fail(error, exitOf(error)); }

  // Other ranks hear of the end by their connections to it; what ended it stands on its own standard error.
  void failWithoutMemory(std::string_view message) override {
    status().fail(message);
    runtime::endWithoutMemory();
  }

  // After a rank that has failed: waits until that is reported, and returns the exit status of this process.
  Exit settle(Exit own) { return monitor.settle(own); }
  // After leave(): that of this process. Rank 0 of a run that a signal stopped exits as a shell names the end by that
  // signal, as hocket-run does on one host; mpirun hands that on.
  Exit outcome() const { return stoppedEarly ? static_cast<Exit>(128 + monitor.stopSignal()) : Done; }

private:
  runtime::Status finishRun(uint64_t peakBytes);
  const program::Program &program;
  runtime::HostsWorld &hosts;
  Crew &crew;
  const Options &options;
  Progress &progress;
  program::StepCounts counts;
  bool stoppedEarly = false;
  CrewMonitor monitor;
};

} // namespace hocket::run
#endif
