// See ShmWorld.h.
#include "runtime/Comm/Shm/ShmWorld.h"
#include "runtime/Comm/Shm/ShmCommunicator.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace hocket::runtime::shm {

ShmWorld::ShmWorld(Region region, int rank)
    : shared(std::move(region)), self(rank), messages(std::make_unique<Messages>(shared)) {
  status().pid.store(getpid(), std::memory_order_relaxed);
}
ShmWorld::~ShmWorld() = default;

int ShmWorld::size() const { return shared.worldSize(); }
std::span<std::byte> ShmWorld::arena() { return shared.arena(self); }

Result<std::unique_ptr<Communicator>> ShmWorld::communicator(const Group &group, Deadline) {
  auto place = std::find(group.ranks.begin(), group.ranks.end(), self);
  if (place == group.ranks.end())
    return Error{ErrorKind::Invalid,
                 fmt::format("rank {} is no member of communicator {} \"{}\"", self, group.id, group.name),
                 {}};
  Result<GroupControl *> control = shared.control(group);
  if (!control)
    return std::move(control.error());
  int member = static_cast<int>(place - group.ranks.begin());
  return std::unique_ptr<Communicator>(std::make_unique<ShmCommunicator>(group, member, shared, **control, *messages));
}

void ShmWorld::whileWaiting(std::function<bool()> progress) { messages->setProgress(std::move(progress)); }

Status ShmWorld::waitForMessages(Deadline deadline) {
  if (messages->waitForAny(status().bell, deadline) == Woken::Aborted)
    return messages->abortError();
  return {};
}

void ShmWorld::abort(std::string_view message) { shared.abort(self, message); }

Status dieWithParent(int parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return Error{ErrorKind::Lacking, fmt::format("cannot ask to die with the launcher: {}", std::strerror(errno)), {}};
  if (getppid() != parent)
    return Error{ErrorKind::Aborted, fmt::format("the launcher, process {}, is gone", parent), {}};
  return {};
}

} // namespace hocket::runtime::shm
