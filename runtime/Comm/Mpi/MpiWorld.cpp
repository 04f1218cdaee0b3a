// See MpiWorld.h.
#include "runtime/Comm/Mpi/MpiWorld.h"
#include "runtime/Comm/Mpi/Engine.h"
#include "runtime/Comm/Mpi/MpiCommunicator.h"
#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hocket::runtime::mpi {
namespace {

// Ends the process if it lives for too long.
class Limit {
public:
  Limit(double seconds, std::string what)
      : thread([this, seconds, what = std::move(what)] {
          std::unique_lock lock(mutex);
          if (changed.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return over; }))
            return;
          fmt::print(stderr, "error: {} within {} s\n", what, seconds);
          ::_exit(3);
        }) {}
  ~Limit() {
    {
      std::lock_guard lock(mutex);
      over = true;
    }
    changed.notify_all();
    thread.join();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::thread thread;
};

// Ranks on this host, as far as the launcher says.
int ranksHere(int size) {
  for (const char *name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_LOCAL_SIZE"})
    if (const char *text = std::getenv(name))
      return std::max(1, std::atoi(text));
  return size;
}

int spinsFor(int ranks) { return ranks <= static_cast<int>(std::thread::hardware_concurrency()) ? 2000 : 20; }

} // namespace

bool startedByMpi() {
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name))
      return true;
  return false;
}

MpiWorld::MpiWorld(const Library &library, int rank, int size, int mostTag)
    : self(rank), ranks(size),
      engine(std::make_unique<Engine>(library, rank, size, mostTag, spinsFor(ranksHere(size)))), board(size, rank) {
  board.own().pid.store(::getpid());
}

Result<std::unique_ptr<MpiWorld>> MpiWorld::join(double seconds) {
  Result<const Library *> library = Library::open();
  if (!library)
    return std::move(library.error());
  const Library &mpi = **library;
  Deadline deadline = deadlineIn(seconds);
  int granted = 0, rank = 0, size = 0, found = 0, code;
  {
    Limit limit(seconds, "MPI did not start: not all ranks came");
    code = mpi.initThread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &granted);
  }
  // Open MPI writes to connections whose other end may be gone, and its start gives the signal its default back.
  std::signal(SIGPIPE, SIG_IGN);
  if (code != MPI_SUCCESS)
    return Error{ErrorKind::Lacking, fmt::format("MPI does not start: {}", mpi.text(code)), {}};
  if (granted < MPI_THREAD_SERIALIZED)
    return Error{ErrorKind::Lacking, "this MPI cannot be called by more than one thread", {}};
  void *mostTag = nullptr;
  mpi.commRank(mpi.world, &rank);
  mpi.commSize(mpi.world, &size);
  mpi.commSetErrhandler(mpi.world, mpi.errorsReturn);
  mpi.commGetAttr(mpi.world, MPI_TAG_UB, &mostTag, &found);
  std::unique_ptr<MpiWorld> world(new MpiWorld(mpi, rank, size, found ? *static_cast<int *>(mostTag) : 32767));
  if (Status opened = world->openLine(deadline); !opened)
    return std::move(opened.error());
  return world;
}

// Rank 0 tells the others where it listens.
Status MpiWorld::openLine(Deadline deadline) {
  lifeline =
      std::make_unique<Lifeline>(rank(), size(), board,
                                 Lifeline::Listener{[this](int lost) {
                                                      engine->setLost(lost);
                                                      std::lock_guard lock(listenMutex);
                                                      if (onLost)
                                                        onLost(lost);
                                                    },
                                                    [this](int by, std::string_view text) { engine->abort(by, text); },
                                                    [this](int from, std::string_view word) {
                                                      std::lock_guard lock(listenMutex);
                                                      if (onTold)
                                                        onTold(from, word);
                                                    }});
  Result<int> tag = engine->tag(0, Kind::Start);
  if (!tag)
    return std::move(tag.error());
  Meeting meeting{};
  if (rank() == 0)
    if (Status opened = lifeline->open(meeting); !opened)
      return opened;
  std::vector<MPI_Request> requests;
  {
    std::lock_guard lock(engine->mutex);
    for (int r = rank() == 0 ? 1 : 0; r < (rank() == 0 ? size() : 1); ++r)
      if (Status posted = rank() == 0 ? engine->send(requests, &meeting, sizeof meeting, r, *tag)
                                      : engine->receive(requests, &meeting, sizeof meeting, r, *tag);
          !posted)
        return posted;
  }
  Result<bool> told = engine->wait([&] { return engine->complete(requests); }, deadline, false);
  if (!told)
    return std::move(told.error());
  if (!*told)
    return Error{ErrorKind::Timeout, "ranks did not answer rank 0 when MPI had started", {}};
  return rank() == 0 ? lifeline->waitForAll(deadline) : lifeline->join(meeting, deadline);
}

// The arena and MPI's state stay: a transfer that never completed may still be under way.
MpiWorld::~MpiWorld() = default;

Status MpiWorld::waitForMessages(Deadline deadline) { return engine->waitForMessages(deadline); }
void MpiWorld::whileWaiting(std::function<bool()> progress) { engine->setProgress(std::move(progress)); }
bool MpiWorld::aborted() const { return engine->aborted(); }
std::optional<Ended> MpiWorld::ended() const { return engine->endedBy(); }
Error MpiWorld::abortError() const { return engine->abortError(); }

Status MpiWorld::reserve(size_t bytes) {
  void *made = ::mmap(nullptr, std::max<size_t>(bytes, 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return Error{ErrorKind::Lacking, fmt::format("cannot get {} bytes of memory: {}", bytes, std::strerror(errno)), {}};
  memory = {static_cast<std::byte *>(made), bytes};
  return {};
}

Result<std::unique_ptr<Communicator>> MpiWorld::communicator(const Group &group, Deadline) {
  auto place = std::find(group.ranks.begin(), group.ranks.end(), rank());
  if (place == group.ranks.end())
    return Error{ErrorKind::Invalid,
                 fmt::format("rank {} is no member of communicator {} \"{}\"", rank(), group.id, group.name),
                 {}};
  for (int member : group.ranks)
    if (member < 0 || member >= size())
      return Error{ErrorKind::Invalid,
                   fmt::format("communicator {} \"{}\" has a member {}; ranks are 0 to {}", group.id, group.name,
                               member, size() - 1),
                   {}};
  int member = static_cast<int>(place - group.ranks.begin());
  return std::unique_ptr<Communicator>(
      std::make_unique<MpiCommunicator>(group, member, *engine, board.calls(group.id)));
}

Result<std::unique_ptr<Communicator>> MpiWorld::everyone() {
  Group group{engine->communicators() - 1, "everyone", {}};
  for (int r = 0; r < size(); ++r)
    group.ranks.push_back(r);
  return communicator(group, {});
}

void MpiWorld::abort(int by, std::string_view message) {
  engine->abort(by, message);
  lifeline->abort(by, message);
}

void MpiWorld::listen(std::function<void(int)> lost, std::function<void(int, std::string_view)> told) {
  std::lock_guard lock(listenMutex);
  onLost = std::move(lost);
  onTold = std::move(told);
}

Status MpiWorld::finish(double seconds, const std::function<void()> &then) {
  MPI_Request met = engine->mpi.noRequest;
  {
    std::lock_guard lock(engine->mutex);
    if (int code = engine->mpi.ibarrier(engine->mpi.world, &met); code != MPI_SUCCESS)
      return Error{ErrorKind::Timeout, fmt::format("MPI_Ibarrier failed: {}", engine->mpi.text(code)), {}};
  }
  Result<bool> all = engine->wait([&] { return engine->complete(met); }, deadlineIn(seconds), false);
  if (!all)
    return std::move(all.error());
  if (!*all)
    return Error{ErrorKind::Timeout, "not all ranks came to the end of the run", {}};
  if (then)
    then();
  lifeline->sayGoodbye();
  lifeline.reset();
  Limit limit(seconds, "MPI did not end");
  engine->mpi.finalize();
  return {};
}

} // namespace hocket::runtime::mpi
