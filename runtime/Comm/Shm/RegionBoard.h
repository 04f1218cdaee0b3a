// The statuses in a shared region, for the launcher's watchdog.
#ifndef HOCKET_RUNTIME_COMM_SHM_REGIONBOARD_H
#define HOCKET_RUNTIME_COMM_SHM_REGIONBOARD_H

#include "runtime/Comm/Shm/Region.h"
#include "runtime/Comm/StatusBoard.h"

namespace hocket::runtime::shm {

class RegionBoard : public StatusBoard {
public:
  explicit RegionBoard(const Region &region) : region(region) {}
  int worldSize() const override { return region.worldSize(); }
  const RankStatus &status(int rank) const override { return region.status(rank); }
  std::vector<int> behind(const Group &group) const override { return region.behind(group.id); }
  bool stopped(int rank) const override; // by a signal, says /proc

private:
  const Region &region;
};

} // namespace hocket::runtime::shm
#endif
