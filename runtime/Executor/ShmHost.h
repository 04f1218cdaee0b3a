// A rank that hocket-run has started on its own host: everything is shared memory and inherited descriptors
// (RunOptions.h).
#ifndef HOCKET_RUNTIME_EXECUTOR_SHMHOST_H
#define HOCKET_RUNTIME_EXECUTOR_SHMHOST_H

#include "runtime/Comm/Shm/ShmWorld.h"
#include "runtime/Executor/RankHost.h"

namespace hocket::runtime {

class ShmHost : public RankHost {
public:
  // Joins the run that the environment describes. From then on the process dies with its launcher.
  static Result<std::unique_ptr<ShmHost>> join(const RunOptions &options);

  World &world() override { return shared; }
  RankStatus &status() override { return shared.status(); }
  bool mayBegin(uint64_t pass) override;
  void report(const nlohmann::json &event) override;
  Status leave() override;

private:
  ShmHost(const RunOptions &options, shm::Region region, RunControl &control)
      : options(options), shared(std::move(region), options.rank), control(control) {}
  RunOptions options;
  shm::ShmWorld shared;
  RunControl &control;
};

} // namespace hocket::runtime
#endif
