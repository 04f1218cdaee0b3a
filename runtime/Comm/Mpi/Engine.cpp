// See Engine.h.
#include "runtime/Comm/Mpi/Engine.h"
#include "runtime/Comm/Mpi/Channel.h"
#include <algorithm>
#include <fmt/format.h>
#include <sched.h>

namespace hocket::runtime::mpi {

// Counts of MPI are ints; pieces of this size also keep one large transfer from holding up all others.
static constexpr size_t pieceBytes = 16 << 20;

Engine::Engine(const Library &library, int rank, int size, int mostTag, int spins)
    : mpi(library), rank(rank), size(size), mostTag(mostTag), spins(spins) {}

Result<int> Engine::tag(uint32_t communicator, Kind kind) const {
  if (communicator >= communicators())
    return Error{ErrorKind::Lacking,
                 fmt::format("communicator {} has no tag: this MPI's largest tag is {}, enough for {} communicators",
                             communicator, mostTag, communicators()),
                 {}};
  return static_cast<int>(communicator) * kinds + static_cast<int>(kind);
}

Error Engine::failed(const char *call, int code, int peer) const {
  return {ErrorKind::Timeout, fmt::format("{} with rank {} failed: {}", call, peer, mpi.text(code)), {peer}};
}

Status Engine::send(std::vector<MPI_Request> &to, const void *data, size_t bytes, int peer, int tag, bool synchronous) {
  auto *from = static_cast<const std::byte *>(data);
  for (size_t begin = 0; begin < bytes; begin += pieceBytes) {
    int count = static_cast<int>(std::min(pieceBytes, bytes - begin));
    MPI_Request request = mpi.noRequest;
    int code = (synchronous ? mpi.issend : mpi.isend)(from + begin, count, mpi.byte, peer, tag, mpi.world, &request);
    if (code != MPI_SUCCESS)
      return failed(synchronous ? "MPI_Issend" : "MPI_Isend", code, peer);
    to.push_back(request);
  }
  return {};
}

Status Engine::receive(std::vector<MPI_Request> &to, void *data, size_t bytes, int peer, int tag) {
  for (size_t begin = 0; begin < bytes; begin += pieceBytes) {
    int count = static_cast<int>(std::min(pieceBytes, bytes - begin));
    MPI_Request request = mpi.noRequest;
    int code = mpi.irecv(static_cast<std::byte *>(data) + begin, count, mpi.byte, peer, tag, mpi.world, &request);
    if (code != MPI_SUCCESS)
      return failed("MPI_Irecv", code, peer);
    to.push_back(request);
  }
  return {};
}

static Error testFailed(const Library &mpi, int code) {
  return {ErrorKind::Timeout, fmt::format("a transfer failed: {}", mpi.text(code)), {}};
}

Result<bool> Engine::complete(std::vector<MPI_Request> &requests) {
  if (requests.empty())
    return true;
  int all = 0;
  int code = mpi.testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
  if (code != MPI_SUCCESS)
    return testFailed(mpi, code);
  return all != 0;
}

Result<bool> Engine::complete(MPI_Request &request) {
  int done = 0;
  if (int code = mpi.test(&request, &done, MPI_STATUS_IGNORE); code != MPI_SUCCESS)
    return testFailed(mpi, code);
  return done != 0;
}

void Engine::add(std::shared_ptr<Channel> channel) { channels.insert(std::move(channel)); }

bool Engine::serve() {
  bool moved = false;
  for (auto at = channels.begin(); at != channels.end();) {
    moved |= (*at)->advance();
    at = (*at)->idle() ? channels.erase(at) : std::next(at);
  }
  return moved;
}

// Yields at first; later sleeps, since on a machine with more ranks than cores those who wait must not keep the others
// from computing.
void Engine::pause(int poll) const {
  if (poll < spins)
    sched_yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(200, 20 + (poll - spins))));
}

Result<bool> Engine::wait(const std::function<Result<bool>()> &done, Deadline deadline, bool collective) {
  for (int poll = 0;; ++poll) {
    {
      std::lock_guard lock(mutex);
      serve();
      Result<bool> now = done();
      if (!now || *now)
        return now;
    }
    if (aborted())
      return abortError();
    if (std::chrono::steady_clock::now() >= deadline)
      return false;
    if (collective && std::this_thread::get_id() == progressOf && progress)
      progress();
    pause(poll);
  }
}

Status Engine::waitForMessages(Deadline deadline) {
  constexpr int polls = 10; // then the caller looks again by itself
  for (int poll = 0; poll < polls; ++poll) {
    {
      std::lock_guard lock(mutex);
      if (serve())
        return {};
    }
    if (aborted())
      return abortError();
    if (std::chrono::steady_clock::now() >= deadline)
      return {};
    pause(poll);
  }
  return {};
}

void Engine::abort(int by, std::string_view message) {
  std::lock_guard lock(noteMutex);
  if (ended.load())
    return;
  end = {by, std::string(message)};
  ended.store(true, std::memory_order_release);
}

Error Engine::abortError() const {
  std::lock_guard lock(noteMutex);
  if (end.rank < 0)
    return {ErrorKind::Aborted, "ended by the launcher: " + end.why, {}};
  return {ErrorKind::Aborted, fmt::format("ended by rank {}: {}", end.rank, end.why), {end.rank}};
}

std::optional<Ended> Engine::endedBy() const {
  std::lock_guard lock(noteMutex);
  if (!ended.load())
    return std::nullopt;
  return end;
}

void Engine::setLost(int peer) {
  std::lock_guard lock(noteMutex);
  lost.emplace(peer, std::chrono::steady_clock::now());
}

std::vector<int> Engine::blame(const std::vector<int> &members, std::vector<int> missing) const {
  constexpr std::chrono::milliseconds together{100}; // ranks of a host that goes
  std::lock_guard lock(noteMutex);
  Deadline first = Deadline::max();
  for (int member : members)
    if (auto gone = lost.find(member); gone != lost.end())
      first = std::min(first, gone->second);
  if (first == Deadline::max())
    return missing;
  std::vector<int> result;
  for (int member : members)
    if (auto gone = lost.find(member); gone != lost.end() && gone->second - first <= together)
      result.push_back(member);
  return result;
}

void Engine::keep(std::vector<std::byte> memory) {
  std::lock_guard lock(noteMutex);
  kept.push_back(std::move(memory));
}

} // namespace hocket::runtime::mpi
