// Ranks of a scenario over one shared region.
#ifndef HOCKET_TEST_RUNTIME_COMM_CONFORMANCE_SHMSTART_H
#define HOCKET_TEST_RUNTIME_COMM_CONFORMANCE_SHMSTART_H

#include "Conformance/Scenario.h"
#include "runtime/Comm/Shm/ShmWorld.h"

namespace hocket::test {

// Starts the ranks by executing this program; `prepare` sets the environment of each.
std::vector<Outcome> startRanks(const std::string &scenario, const std::function<void(int rank)> &prepare,
                                const std::function<void(const std::vector<int> &)> &meanwhile);

// What Backend::run and Backend::join say.
std::vector<Outcome> runOverShm(const std::string &scenario,
                                const std::function<void(const std::vector<int> &)> &meanwhile);
runtime::Result<std::unique_ptr<runtime::shm::ShmWorld>> joinShm(int rank);

} // namespace hocket::test
#endif
