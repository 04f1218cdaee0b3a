// Communication between ranks, as the executor sees it. Shared memory (one host), MPI (several hosts) and NCCL (GPUs)
// stand behind this interface and pass one conformance suite (test/runtime/Comm).
//
// A World is one rank's view of all ranks. A Communicator is a fixed set of them in a fixed order. Every backend keeps:
//   - Order: all members issue the same collectives on a communicator in the same order; messages from one member to
//     another match in the order in which they were posted. Sizes and types must match: where they do not, the call
//     fails on the members that see it (Mismatch) with both values in the message.
//   - Reductions (shared memory, MPI): element i is ((x0 + x1) + x2) + …, x_r from member r, whatever the counts and
//     buffers are; so results are equal to the last bit on every member and in every run. bf16 and f16 add in f32 and
//     round once, at the end. Integers wrap. max and min pass a NaN on.
//   - Time: every wait has a deadline. A call past its deadline fails with the world ranks that were missing. An abort
//     (of another rank or of the launcher) ends every wait.
//   - Errors are final: after a failed call a communicator is only good for destruction; its other calls repeat the
//     error.
//
// Threads: one communicator belongs to one thread at a time; different communicators may be used at once.
#ifndef HOCKET_RUNTIME_COMM_COMMUNICATOR_H
#define HOCKET_RUNTIME_COMM_COMMUNICATOR_H

#include "runtime/Program/Result.h"
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace hocket::runtime {

// In the order of the program file's enums of the same names (the executor asserts it).
enum class ElementType : uint8_t { F32, F64, BF16, F16, I32, I64 };
enum class Reduction : uint8_t { Sum, Max, Min };

size_t sizeBytes(ElementType type);       // F32 -> 4, BF16 -> 2, I64 -> 8
std::string_view toString(ElementType t); // "f32", "bf16"
std::string_view toString(Reduction r);   // "sum"

// When a wait gives up.
using Deadline = std::chrono::steady_clock::time_point;
inline Deadline deadlineIn(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

// Until when a call may wait, and the device stream it is queued on (a cudaStream_t). Backends that work on host memory
// ignore the stream and return when the call is done; NCCL returns when it is queued.
struct When {
  Deadline deadline;
  void *stream = nullptr;
  When(Deadline deadline, void *stream = nullptr) : deadline(deadline), stream(stream) {}
};

// A communicator to be: its position in the program's list of all communicators of all ranks, and its members as world
// ranks, in order. Of a pipeline edge: the sender, then the receiver.
struct Group {
  uint32_t id = 0;
  std::string name; // for messages: "dp", "pp 0->1"
  std::vector<int> ranks;
};

// A message on its way: MPI_Request. Dropping one that is not complete leaves the message posted, so its buffer must
// stay.
class Request {
public:
  virtual ~Request() = default;
  // True when complete: of a send, the receiver has taken it; of a receive, the data is there. Never waits. MPI_Test.
  virtual Result<bool> test() = 0;
  // Waits until complete. MPI_Wait.
  virtual Status wait(Deadline deadline) = 0;
};

class Communicator {
public:
  virtual ~Communicator() = default;

  const Group &group() const { return members; }
  int size() const { return static_cast<int>(members.ranks.size()); }
  int rank() const { return self; } // this rank's place among the members
  std::string describe() const;     // `communicator 3 "dp" of ranks 0, 2`

  // Counts are elements. Buffers are equal or apart, except as stated.

  // out[count] = reduction over the members of in[count]; in == out allowed. ncclAllReduce, MPI_Allreduce.
  virtual Status allReduce(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                           When when) = 0;
  // out[count] = reduction of block rank() of in[size() * count]; out may be that block. ncclReduceScatter,
  // MPI_Reduce_scatter_block.
  virtual Status reduceScatter(const void *in, void *out, size_t count, ElementType type, Reduction reduction,
                               When when) = 0;
  // Block r of out[size() * count] = in[count] of member r; in may be block rank() of out. ncclAllGather,
  // MPI_Allgather.
  virtual Status allGather(const void *in, void *out, size_t count, ElementType type, When when) = 0;
  // Block r of out[size() * count] = block rank() of member r's in[size() * count]; never in place. MPI_Alltoall,
  // grouped ncclSend and ncclRecv.
  virtual Status allToAll(const void *in, void *out, size_t count, ElementType type, When when) = 0;
  // buffer[count] of every member = that of member root. ncclBroadcast, MPI_Bcast.
  virtual Status broadcast(void *buffer, size_t count, ElementType type, int root, When when) = 0;
  // Returns when every member has called it. MPI_Barrier; NCCL: an ncclAllReduce of one element.
  virtual Status barrier(When when) = 0;

  // Posts a message to or from member `peer` and returns at once; the buffer is the message's until the request is
  // complete. Rendezvous: a send completes when the receiver has taken it, never before. All posted messages of this
  // rank make progress while it waits in any call. MPI_Issend, MPI_Irecv; ncclSend, ncclRecv.
  virtual Result<std::unique_ptr<Request>> send(const void *data, size_t count, ElementType type, int peer,
                                                void *stream = nullptr) = 0;
  virtual Result<std::unique_ptr<Request>> receive(void *data, size_t count, ElementType type, int peer,
                                                   void *stream = nullptr) = 0;

  // One step around the ring of the members: out[count] = in[count] of the member before this one; member 0 gets that
  // of the last. Never in place. Made of one message to the next and one from the one before, both posted before either
  // is waited for: no member waits for another one's order. ncclGroupStart, ncclSend, ncclRecv, ncclGroupEnd;
  // MPI_Sendrecv.
  virtual Status shiftRing(const void *in, void *out, size_t count, ElementType type, When when);

protected:
  Communicator(Group group, int self) : members(std::move(group)), self(self) {}

private:
  Group members;
  int self;
};

// Communicator::shiftRing.
Status shift(Communicator &on, const void *in, void *out, size_t count, ElementType type, When when);

// One rank's view of all ranks.
class World {
public:
  virtual ~World() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Memory for everything this rank sends, zero at the start. Messages and collectives work from any memory, but are
  // copied only once where it lies here (shared memory), or must lie here (NCCL: it is on the device).
  virtual std::span<std::byte> arena() = 0;
  // Makes this rank's end of a communicator. Every member calls it once, all ranks in the order of ids.
  // ncclCommInitRank, MPI_Comm_create_group.
  virtual Result<std::unique_ptr<Communicator>> communicator(const Group &group, Deadline deadline) = 0;
  // Waits until some posted message of this rank may have moved on since it was last tested, until an abort (an error),
  // or a short while; the executor calls it when no stream can go on, and tests its requests again. Here: sleeps 50 us,
  // for backends that cannot do better. Shared memory: a futex of this rank that peers wake. MPI_Testany in a loop.
  virtual Status waitForMessages(Deadline deadline) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    return {};
  }
  // `progress` is called now and then while this rank waits in a collective, and returns whether there may be more to
  // do: so messages go on while stream 0 waits, as if every stream ran by itself. An empty function ends that. It is
  // called in the thread that gave it alone; set it while no other thread of the rank is in a collective. Backends
  // whose messages need no help (NCCL, MPI with a progress thread) ignore it.
  virtual void whileWaiting(std::function<bool()> progress) {}
  // Calls on communicators of this world as one: NCCL, whose calls do nothing before the end; elsewhere one after
  // another, as they are. ncclGroupStart, ncclGroupEnd.
  virtual Status together(const std::function<Status()> &calls, Deadline deadline) { return calls(); }
  // Ends every wait of every rank with this message; the first call counts. ncclCommAbort, MPI_Abort.
  virtual void abort(std::string_view message) = 0;
};

} // namespace hocket::runtime
#endif
