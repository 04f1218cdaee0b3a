// The world of ranks that mpirun or srun has started, on any number of hosts. Transfers are MPI's; statuses and aborts
// go over a line of their own (Lifeline.h).
//
// MPI's start and end are the only calls that wait for other ranks by themselves; a timer ends the process (exit status
// 3, a message on stderr) where they take longer than they may.
#ifndef HOCKET_RUNTIME_COMM_MPI_MPIWORLD_H
#define HOCKET_RUNTIME_COMM_MPI_MPIWORLD_H

#include "runtime/Comm/HostsWorld.h"

namespace hocket::runtime::mpi {

class Engine;
struct Library;

// Whether this process was started by something that MPI can find its peers through: mpirun, srun with its MPI plugin.
bool startedByMpi();

class MpiWorld : public HostsWorld {
public:
  // Joins the run; once a process, which from then on ignores SIGPIPE. Fails with Lacking where there is no MPI, with
  // Timeout where ranks do not come.
  static Result<std::unique_ptr<MpiWorld>> join(double seconds);
  ~MpiWorld() override;

  int rank() const override { return self; }
  int size() const override { return ranks; }
  std::span<std::byte> arena() override { return memory; }
  Status reserve(size_t bytes) override;
  Result<std::unique_ptr<Communicator>> communicator(const Group &group, Deadline deadline) override;
  // It has the last number that MPI allows.
  Result<std::unique_ptr<Communicator>> everyone() override;
  Status waitForMessages(Deadline deadline) override;
  void whileWaiting(std::function<bool()> progress) override;
  void abort(std::string_view message) override { abort(rank(), message); }
  void abort(int by, std::string_view message) override;
  bool aborted() const override;
  std::optional<Ended> ended() const override;
  Error abortError() const;

  GatheredStatuses &statuses() override { return board; }
  Lifeline &line() override { return *lifeline; }
  void listen(std::function<void(int rank)> lost, std::function<void(int rank, std::string_view word)> told) override;

  // Ends MPI.
  Status finish(double seconds, const std::function<void()> &met = {}) override;
  bool finished() const override { return !lifeline; }

private:
  MpiWorld(const Library &library, int rank, int size, int mostTag);
  Status openLine(Deadline deadline);

  const int self, ranks;
  std::unique_ptr<Engine> engine; // here alone is mpi.h known
  GatheredStatuses board;
  std::mutex listenMutex;
  std::function<void(int)> onLost;
  std::function<void(int, std::string_view)> onTold;
  std::unique_ptr<Lifeline> lifeline;
  std::span<std::byte> memory;
};

} // namespace hocket::runtime::mpi
#endif
