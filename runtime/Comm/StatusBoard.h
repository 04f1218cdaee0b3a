// The statuses of all ranks, as a watchdog reads them: in shared memory, or gathered from other hosts.
#ifndef HOCKET_RUNTIME_COMM_STATUSBOARD_H
#define HOCKET_RUNTIME_COMM_STATUSBOARD_H

#include "runtime/Comm/Communicator.h"
#include "runtime/Comm/RankStatus.h"

namespace hocket::runtime {

class StatusBoard {
public:
  virtual ~StatusBoard() = default;
  virtual int worldSize() const = 0;
  virtual const RankStatus &status(int rank) const = 0;
  // Members of a communicator that have come to fewer of its collectives than the furthest member, as world ranks;
  // empty when level.
  virtual std::vector<int> behind(const Group &group) const = 0;
  // Whether the rank's process is known not to run, whatever its status says: it is stopped, or not heard of.
  virtual bool stopped(int rank) const = 0;
};

} // namespace hocket::runtime
#endif
