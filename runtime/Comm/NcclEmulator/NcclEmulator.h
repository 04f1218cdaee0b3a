// A stand-in for NCCL's library on a machine without GPUs: the same C functions, over the messages of a host world
// (shared memory between rank processes), queued on the streams of the emulator.
//
//   shm::ShmWorld host(…);
//   nccl::NcclEmulator emulator(host, *device, {seed});
//   nccl::NcclWorld world(emulator, nccl::NcclEmulator::library(), *device, arena);
//
// What is kept of NCCL, and what a program may rely on:
//   - A call returns when it is queued. Calls on one communicator run in the order in which they were issued, whichever
//     streams they are on. The calls of a group on one communicator are one kernel: its messages go on together, its
//     collectives follow one after the other.
//   - A kernel is resident from its start until its members have done their part; a send ends when it is received,
//     never before. At most `resident` kernels of a rank are resident at once: a program that needs more does not go on.
//   - Which kernel of several begins first is drawn, as the emulator draws among streams. Some calls answer "in
//     progress" first, as calls of a communicator that is not blocking may.
//   - Reductions add in the order of members (NCCL promises no order), so every run gives the same bits.
//   - What does not match between members (counts, types, operations, the order of calls) and an abort of the host's
//     world become asynchronous errors; NCCL would hang on the former. The kernel then stays until the communicator is
//     aborted. A member that does not come is no error: the caller's deadline says so.
//
// NCCL's functions carry no context: one process has one NcclEmulator at a time, used by one thread.
#ifndef HOCKET_RUNTIME_COMM_NCCLEMULATOR_NCCLEMULATOR_H
#define HOCKET_RUNTIME_COMM_NCCLEMULATOR_NCCLEMULATOR_H

#include "runtime/Comm/Nccl/Nccl.h"
#include "runtime/Device/Device.h"
#include <map>
#include <random>

namespace hocket::runtime::nccl {

class EmulatedCommunicator;
class Kernel;

struct NcclEmulatorOptions {
  uint64_t seed = 0;
  size_t resident = SIZE_MAX; // kernels of this rank at once
  // Told of every call when it is issued: `all_reduce sum of 64 f32`, `send of 64 f32 to member 1`.
  std::function<void(const Group &, const std::string &)> issued;
  // Which capture takes what is queued on this stream (its handle), 0 where none does. Captured calls take their place
  // on their communicator anew with every launch of their graph. Without it nothing is taken for captured, so a graph
  // must be launched before other calls on its communicators, and the order of its calls there be that of its streams
  // and events.
  std::function<uint64_t(void *)> capturing;
};

// The host's world, as NcclWorld is to see it: the communicators that it makes here are those that ncclCommInitRank
// takes over, so of one id none may be made by `host` itself.
class NcclEmulator : public World {
public:
  // `host` and `device` must outlive it, and it every communicator.
  NcclEmulator(World &host, Device &device, NcclEmulatorOptions options = {});
  ~NcclEmulator() override;
  NcclEmulator(const NcclEmulator &) = delete;
  NcclEmulator &operator=(const NcclEmulator &) = delete;

  static Library library();

  int rank() const override { return host.rank(); }
  int size() const override { return host.size(); }
  std::span<std::byte> arena() override { return host.arena(); }
  Result<std::unique_ptr<Communicator>> communicator(const Group &group, Deadline deadline) override;
  Status waitForMessages(Deadline deadline) override { return host.waitForMessages(deadline); }
  void whileWaiting(std::function<bool()> progress) override { host.whileWaiting(std::move(progress)); }
  void abort(std::string_view message) override { host.abort(message); }

private:
  friend class EmulatedCommunicator;
  friend class Kernel;
  friend struct Functions;

  World &host;
  Device &device;
  NcclEmulatorOptions options;
  std::mt19937_64 random;
  std::shared_ptr<Communicator> latest; // the next init takes it over
  std::map<Handle, std::shared_ptr<EmulatedCommunicator>> communicators;
  std::vector<std::shared_ptr<void>> kept; // what ended while its messages were posted: their memory must stay
  size_t resident = 0;
  uint32_t ids = 0;
  std::string lastError;
};

} // namespace hocket::runtime::nccl
#endif
