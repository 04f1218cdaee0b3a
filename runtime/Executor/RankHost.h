// Where a rank lives and who looks after it: its world, its status, whether it may go on, to whom it reports. The life
// of a rank (Rank.h) is the same behind every host:
//   ShmHost                  one process of hocket-run on one host
//   runtime/Launch/CrewHost   one process of mpirun or srun on any host
#ifndef HOCKET_RUNTIME_EXECUTOR_RANKHOST_H
#define HOCKET_RUNTIME_EXECUTOR_RANKHOST_H

#include "runtime/Comm/Communicator.h"
#include "runtime/Comm/RankStatus.h"
#include "runtime/Executor/RunOptions.h"
#include <nlohmann/json_fwd.hpp>

namespace hocket::runtime {

class RankHost {
public:
  virtual ~RankHost() = default;
  virtual World &world() = 0;
  virtual RankStatus &status() = 0;
  // Announces a pass (a training step, a batch of an evaluation; numbered from 1, the same on every rank) and says
  // whether the rank may begin it. All ranks get the same answer for the same pass; waits where that is about to be
  // decided.
  virtual bool mayBegin(uint64_t pass) = 0;
  // One event, {"event": KIND, …}, to whoever shows progress. Events of one rank arrive in order.
  virtual void report(const nlohmann::json &event) = 0;
  // The rank is done; returns when it may exit.
  virtual Status leave() = 0;
  // The rank has failed by its own fault, and its run with it; returns when it may exit.
  virtual void fail(const Error &error) {
    status().fail(error.message);
    world().abort(error.message);
  }
  // The same where nothing can be allocated, from any thread, just before the process ends.
  virtual void failWithoutMemory(std::string_view message) {
    status().fail(message);
    world().abort(message);
  }
};

} // namespace hocket::runtime
#endif
