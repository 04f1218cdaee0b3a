// Ranks on GPUs. Another world (shared memory, MPI) brings them together, hands unique ids around and carries aborts.
#ifndef HOCKET_RUNTIME_COMM_NCCL_NCCLWORLD_H
#define HOCKET_RUNTIME_COMM_NCCL_NCCLWORLD_H

#include "runtime/Comm/Nccl/Nccl.h"
#include "runtime/Device/Device.h"
#include <optional>

namespace hocket::runtime::nccl {

class NcclCommunicator;

class NcclWorld : public World {
public:
  // `arena` is memory of the device. Everything given must outlive this world, and this world its communicators.
  NcclWorld(World &host, Library library, Device &device, std::span<std::byte> arena)
      : host(host), library(library), device(device), memory(arena) {}

  int rank() const override { return host.rank(); }
  int size() const override { return host.size(); }
  std::span<std::byte> arena() override { return memory; }
  Result<std::unique_ptr<Communicator>> communicator(const Group &group, Deadline deadline) override;
  // Asks every communicator for asynchronous errors, and the host's world for an abort; sleeps a little.
  Status waitForMessages(Deadline deadline) override;
  void abort(std::string_view message) override;

  // Calls on any communicators as one: ncclGroupStart, ncclGroupEnd. Messages that wait for each other's peers must be
  // called so; collectives that follow each other may. What a request of a message within says is worth nothing:
  // nothing is queued before the end, so ask the stream. Fails with the first error of the calls, or Timeout where the
  // group was not queued by the deadline.
  Status together(const std::function<Status()> &calls, Deadline deadline) override;

  // Waits until all work queued on a stream so far is done, an error or an abort comes, or the deadline passes
  // (Timeout). cudaStreamSynchronize that can end.
  Status finish(Stream &stream, Deadline deadline);

private:
  friend class NcclCommunicator;
  World &host;
  Library library;
  Device &device;
  std::span<std::byte> memory;
  std::vector<NcclCommunicator *> communicators;
};

// Every call is queued on when.stream and returns. An asynchronous error (of a peer that died, of the network) comes
// with the next call, test or wait; the communicator is then aborted.
class NcclCommunicator : public Communicator {
public:
  NcclCommunicator(Group group, int self, NcclWorld &world, Handle handle, void *barrierElement);
  ~NcclCommunicator() override;

  Status allReduce(const void *in, void *out, size_t count, ElementType type, Reduction reduction, When when) override;
  Status reduceScatter(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                       When when) override;
  Status allGather(const void *in, void *out, size_t count, ElementType type, When when) override;
  Status allToAll(const void *in, void *out, size_t count, ElementType type, When when) override;
  Status broadcast(void *buffer, size_t count, ElementType type, int root, When when) override;
  Status barrier(When when) override;
  Status shiftRing(const void *in, void *out, size_t count, ElementType type, When when) override;
  Result<std::unique_ptr<Request>> send(const void *data, size_t count, ElementType type, int peer,
                                        void *stream) override;
  Result<std::unique_ptr<Request>> receive(void *data, size_t count, ElementType type, int peer, void *stream) override;

  // Several calls as one, on one stream: ncclGroupStart, ncclGroupEnd.
  Status together(const std::function<int()> &calls, std::string_view name, Deadline deadline);
  // Waits until the calls before are queued.
  Status queued(std::string_view name, Deadline deadline);
  // The asynchronous error, if there is one.
  Status poll();
  // Ends everything queued on it. ncclCommAbort.
  void abort();

private:
  Status done(int outcome, std::string_view name, Deadline deadline);
  Result<std::unique_ptr<Request>> posted(Status queued, void *stream);
  Status broken(Error error);

  NcclWorld &world;
  Handle handle;
  void *barrierElement; // of the device
  std::optional<Error> failed;
};

} // namespace hocket::runtime::nccl
#endif
