// A world of ranks that something else has started, on any hosts, each of which looks after itself: with a line to rank
// 0 (Mpi/Lifeline.h) for statuses, aborts and words, and a start and an end that all ranks share. Mpi/MpiWorld.h and
// Tcp/TcpWorld.h.
#ifndef HOCKET_RUNTIME_COMM_HOSTSWORLD_H
#define HOCKET_RUNTIME_COMM_HOSTSWORLD_H

#include "runtime/Comm/Mpi/Ended.h"
#include "runtime/Comm/Mpi/Lifeline.h"

namespace hocket::runtime {

class HostsWorld : public World {
public:
  // Makes the arena, which is empty before.
  virtual Status reserve(size_t bytes) = 0;
  // One of all ranks, before there is a program that numbers communicators.
  virtual Result<std::unique_ptr<Communicator>> everyone() = 0;

  using World::abort;
  virtual void abort(int by, std::string_view message) = 0; // by -1: whoever started the run
  virtual bool aborted() const = 0;
  virtual std::optional<mpi::Ended> ended() const = 0;

  virtual mpi::GatheredStatuses &statuses() = 0;
  virtual mpi::Lifeline &line() = 0;
  // What else shall happen when a rank is lost, and when a word comes; on the line's thread.
  virtual void listen(std::function<void(int rank)> lost,
                      std::function<void(int rank, std::string_view word)> told) = 0;

  // A good end, called by all ranks: meets them and ends what brought them together. After it the world is only good
  // for destruction. `met` is called between the two.
  virtual Status finish(double seconds, const std::function<void()> &met = {}) = 0;
  virtual bool finished() const = 0;
};

} // namespace hocket::runtime
#endif
