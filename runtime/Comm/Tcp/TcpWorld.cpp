// See TcpWorld.h.
#include "runtime/Comm/Tcp/TcpWorld.h"
#include "runtime/Comm/Tcp/Rendezvous.h"
#include "runtime/Comm/Tcp/TcpCommunicator.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hocket::runtime::tcp {

TcpWorld::TcpWorld(int rank, int size) : self(rank), ranks(size), board(size, rank), mail(rank) {
  board.own().pid.store(::getpid());
}

Result<std::unique_ptr<TcpWorld>> TcpWorld::join(const Place &place, double seconds) {
  std::unique_ptr<TcpWorld> world(new TcpWorld(place.rank, place.size));
  if (Status met = world->meet(place, seconds); !met)
    return std::move(met.error());
  Result<std::unique_ptr<Communicator>> all = world->everyone();
  if (!all)
    return std::move(all.error());
  world->all = std::move(*all);
  // A letter to a rank that rank 0 does not know yet would be lost.
  if (Status here = world->all->barrier(deadlineIn(seconds)); !here)
    return std::move(here.error()).in("at the start of the run");
  return world;
}

// The line is open before the others hear of it.
Status TcpWorld::meet(const Place &place, double seconds) {
  mpi::Lifeline::Listener listener;
  listener.lost = [this](int rank) {
    mail.setLost(rank);
    std::lock_guard lock(listenMutex);
    if (onLost)
      onLost(rank);
  };
  listener.aborted = [this](int by, std::string_view text) { mail.abort(by, text); };
  listener.told = [this](int from, std::string_view word) {
    std::lock_guard lock(listenMutex);
    if (onTold)
      onTold(from, word);
  };
  listener.mailed = [this](int from, std::string_view frame) { mail.arrived(from, frame); };
  lifeline = std::make_unique<mpi::Lifeline>(self, ranks, board, std::move(listener));
  mail.over(lifeline.get());
  Deadline deadline = deadlineIn(seconds + 5);
  mpi::Meeting meeting{};
  if (self > 0) {
    Result<mpi::Meeting> told = report(place, seconds);
    if (!told)
      return std::move(told.error());
    return lifeline->join(*told, deadline);
  }
  Result<mpi::Socket> listening = listenAt(place);
  if (!listening)
    return std::move(listening.error());
  if (Status opened = lifeline->open(meeting); !opened)
    return opened;
  if (Status came = gather(place, *listening, meeting, seconds); !came)
    return came;
  return lifeline->waitForAll(deadline);
}

TcpWorld::~TcpWorld() {
  if (lifeline)
    lifeline->part(aborted() ? 1 : 30); // the others may still talk to each other
  lifeline.reset();
  if (memory.data())
    ::munmap(memory.data(), std::max<size_t>(memory.size(), 1));
}

Status TcpWorld::reserve(size_t bytes) {
  void *made = ::mmap(nullptr, std::max<size_t>(bytes, 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return Error{ErrorKind::Lacking, fmt::format("cannot get {} bytes of memory: {}", bytes, std::strerror(errno)), {}};
  memory = {static_cast<std::byte *>(made), bytes};
  return {};
}

Result<std::unique_ptr<Communicator>> TcpWorld::communicator(const Group &group, Deadline) {
  auto place = std::find(group.ranks.begin(), group.ranks.end(), self);
  if (place == group.ranks.end())
    return Error{ErrorKind::Invalid,
                 fmt::format("rank {} is no member of communicator {} \"{}\"", self, group.id, group.name),
                 {}};
  for (int member : group.ranks)
    if (member < 0 || member >= ranks)
      return Error{ErrorKind::Invalid,
                   fmt::format("communicator {} \"{}\" has a member {}; ranks are 0 to {}", group.id, group.name,
                               member, ranks - 1),
                   {}};
  int member = static_cast<int>(place - group.ranks.begin());
  return std::unique_ptr<Communicator>(
      std::make_unique<TcpCommunicator>(group, member, mail, board, board.calls(group.id)));
}

// Every call makes one with a number of its own, the same on all ranks.
Result<std::unique_ptr<Communicator>> TcpWorld::everyone() {
  Group group{UINT32_MAX - (all ? 1u : 0u), "everyone", {}};
  for (int r = 0; r < ranks; ++r)
    group.ranks.push_back(r);
  return communicator(group, {});
}

void TcpWorld::abort(int by, std::string_view message) {
  mail.abort(by, message);
  if (lifeline)
    lifeline->abort(by, message);
}

void TcpWorld::listen(std::function<void(int)> lost, std::function<void(int, std::string_view)> told) {
  std::lock_guard lock(listenMutex);
  onLost = std::move(lost);
  onTold = std::move(told);
}

Status TcpWorld::finish(double seconds, const std::function<void()> &then) {
  if (Status met = all->barrier(deadlineIn(seconds)); !met)
    return std::move(met.error()).in("not all ranks came to the end of the run");
  if (then)
    then();
  lifeline->part(seconds);
  lifeline.reset();
  return {};
}

} // namespace hocket::runtime::tcp
