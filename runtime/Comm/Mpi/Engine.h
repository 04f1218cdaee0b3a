// Every call of MPI of one rank goes through here: posted under one mutex (MPI_THREAD_SERIALIZED), waited for by
// testing, never by a call that blocks. So a dead or stuck peer is a deadline that passes, and what this rank owes its
// messages is done in any of its waits.
#ifndef HOCKET_RUNTIME_COMM_MPI_ENGINE_H
#define HOCKET_RUNTIME_COMM_MPI_ENGINE_H

#include "runtime/Comm/Communicator.h"
#include "runtime/Comm/Mpi/Ended.h"
#include "runtime/Comm/Mpi/Library.h"
#include <atomic>
#include <map>
#include <mutex>
#include <set>

namespace hocket::runtime::mpi {

class Channel;

// Kinds of transfers of one communicator; a tag is id * kinds + kind.
enum class Kind { Call, Data, SenderTicket, ReceiverTicket, Message, Start };
inline constexpr int kinds = 8;

class Engine {
public:
  // After initThread. `spins`: polls of a wait before it begins to sleep between them.
  Engine(const Library &library, int rank, int size, int mostTag, int spins);

  const Library &mpi;
  const int rank, size;
  std::mutex mutex; // held for every call of `mpi`

  // The tag of a communicator's transfers; Lacking where MPI has no tag for it.
  Result<int> tag(uint32_t communicator, Kind kind) const;
  uint32_t communicators() const { return static_cast<uint32_t>(mostTag / kinds); } // that there are tags for

  // Post a transfer of `bytes` to or from a world rank, in pieces, and append its requests. Under the mutex. A
  // synchronous send is complete when its receiver has begun to take it.
  Status send(std::vector<MPI_Request> &to, const void *data, size_t bytes, int peer, int tag,
              bool synchronous = false);
  Status receive(std::vector<MPI_Request> &to, void *data, size_t bytes, int peer, int tag);
  // Whether all are complete. Under the mutex.
  Result<bool> complete(std::vector<MPI_Request> &requests);
  // The same for one; complete requests become noRequest and stay complete.
  Result<bool> complete(MPI_Request &request);

  // Channels with messages on their way move on whenever this rank waits.
  void add(std::shared_ptr<Channel> channel);
  // Does what this rank owes its messages; under the mutex. True if one has moved on.
  bool serve();

  // Calls `done`, under the mutex, until it is true, and serves meanwhile. False when the deadline passes; Aborted when
  // the run has ended, or what `done` says. In a collective the rank's progress function is called as well, without the
  // mutex, in the thread that set it.
  Result<bool> wait(const std::function<Result<bool>()> &done, Deadline deadline, bool collective);
  // World::waitForMessages.
  Status waitForMessages(Deadline deadline);
  void setProgress(std::function<bool()> function) {
    progress = std::move(function);
    progressOf = std::this_thread::get_id();
  }

  // Ends every wait: rank -1 is a launcher. The first call counts. From any thread.
  void abort(int rank, std::string_view message);
  bool aborted() const { return ended.load(std::memory_order_acquire); }
  Error abortError() const;
  std::optional<Ended> endedBy() const;

  // A rank that is known to be gone. From any thread.
  void setLost(int rank);
  // For whom members of a communicator wait when `missing` have not answered: those members that went first, if any are
  // gone; the others only wait for them, or went because of them.
  std::vector<int> blame(const std::vector<int> &members, std::vector<int> missing) const;

  // Memory that a transfer which never completed may still be written to or read from: kept until the process ends.
  void keep(std::vector<std::byte> memory);

private:
  Error failed(const char *call, int code, int peer) const;
  void pause(int poll) const;

  const int mostTag, spins;
  std::set<std::shared_ptr<Channel>> channels;
  std::function<bool()> progress;
  std::thread::id progressOf;
  std::atomic<bool> ended{false};
  mutable std::mutex noteMutex; // of what follows
  Ended end{-1, {}};
  std::map<int, Deadline> lost; // and when
  std::vector<std::vector<std::byte>> kept;
};

} // namespace hocket::runtime::mpi
#endif
