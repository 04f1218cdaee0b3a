// The world of ranks on one host: exec'd processes over one Region. The default on CPU.
//
//   launcher                                    rank
//   auto region = shm::Region::create(spec);    dieWithParent(launcherPid);
//   setenv(shm::descriptorVariable, …);         auto region = shm::Region::attach();
//   fork, exec × worldSize                      ShmWorld world(std::move(*region), rank);
#ifndef HOCKET_RUNTIME_COMM_SHM_SHMWORLD_H
#define HOCKET_RUNTIME_COMM_SHM_SHMWORLD_H

#include "runtime/Comm/Shm/Region.h"

namespace hocket::runtime::shm {

class Messages;

class ShmWorld : public World {
public:
  // rank < region.worldSize().
  ShmWorld(Region region, int rank);
  ~ShmWorld() override;

  int rank() const override { return self; }
  int size() const override;
  std::span<std::byte> arena() override;
  // Never waits. The region must hold a group of the same id and members. The world must outlive its communicators.
  Result<std::unique_ptr<Communicator>> communicator(const Group &group, Deadline deadline) override;
  Status waitForMessages(Deadline deadline) override;
  void whileWaiting(std::function<bool()> progress) override;
  void abort(std::string_view message) override;

  Region &region() { return shared; }
  RankStatus &status() { return shared.status(self); }

private:
  Region shared;
  int self;
  std::unique_ptr<Messages> messages;
};

// Asks the kernel to kill this process when its parent dies (PR_SET_PDEATHSIG). Call it first thing after exec, in the
// thread that lives longest; fails when the parent is no longer `parent`.
Status dieWithParent(int parent);

} // namespace hocket::runtime::shm
#endif
