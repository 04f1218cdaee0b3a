// Where a rank belongs that torchrun or srun has started, as their environment says.
//
//   torchrun   RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT
//   srun       SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID; the first host of SLURM_STEP_NODELIST and a port made of
//              SLURM_JOB_ID, where there is no MASTER_ADDR, MASTER_PORT
//
// HOCKET_START_SECONDS (120): how long ranks are waited for. HOCKET_PORT goes before MASTER_PORT. Where torchrun itself
// listens on MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE), it is the next one.
#ifndef HOCKET_RUNTIME_COMM_TCP_PLACE_H
#define HOCKET_RUNTIME_COMM_TCP_PLACE_H

#include "runtime/Program/Result.h"
#include <functional>
#include <optional>

namespace hocket::runtime::tcp {

struct Place {
  int rank = 0, size = 1;
  std::optional<int> localRank; // among the ranks of its machine
  std::string host;             // of rank 0
  int port = 0;
  double startSeconds = 120;
  std::string job; // ranks of different jobs do not belong together; may be empty
};

// What a variable holds; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const char *name)>;
Environment ownEnvironment();

// Whether this process is a rank that torchrun or srun (without MPI) has started.
bool startedOverTcp(const Environment &environment);
// Invalid, with every fault, where the variables make no place.
Result<Place> placeOf(const Environment &environment);

// The first host of a list as Slurm writes it: `gpu[07-12,20],login` -> `gpu07`.
std::string firstHost(std::string_view list);

} // namespace hocket::runtime::tcp
#endif
