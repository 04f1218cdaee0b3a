// What a rank runs on: a device, memory there for the arena, and a world that reaches from there.
//
//   target   device                             arena                   world
//   cpu      CpuDevice                          the host world's own    the host's
//   cuda     GPU number `localRank`             of that GPU             NCCL over the host's
//   cuda     the emulator, with --emulate       of the emulator         emulated NCCL over the host's
#ifndef HOCKET_RUNTIME_EXECUTOR_RANKDEVICE_H
#define HOCKET_RUNTIME_EXECUTOR_RANKDEVICE_H

#include "runtime/Device/Cpu/ThreadPool.h"
#include "runtime/Device/Device.h"
#include "runtime/Executor/RankContext.h"
#include "runtime/Executor/RunOptions.h"

namespace hocket::runtime {

class RankDevice {
public:
  // `own`: the program of this rank. `meeting` outlives the result. Lacking says what of this machine is missing.
  static Result<std::unique_ptr<RankDevice>> open(const program::Program &program, const program::RankProgram &own,
                                                  const RunOptions &options, World &meeting);
  ~RankDevice();

  Device &device() { return *opened; }
  std::byte *arena() { return memory; }
  World &world() { return *reaching; }
  ThreadPool &pool() { return *threads; } // of the host

private:
  Status openCpu(const program::Program &program, const program::RankProgram &own, World &meeting);
  Status openGpu(const program::Program &program, const program::RankProgram &own, const RunOptions &options,
                 World &meeting);
  Status openWorld(const program::Program &program, const RunOptions &options, World &meeting, size_t arenaBytes);

  std::unique_ptr<Device> opened;
  std::unique_ptr<ThreadPool> ownThreads;
  ThreadPool *threads = nullptr;
  std::byte *memory = nullptr;
  std::unique_ptr<World> emulated; // in which ownWorld's ranks meet
  std::unique_ptr<World> ownWorld;
  World *reaching = nullptr;
};

// Whether a program is for GPUs.
bool isForGpus(const program::Program &program);

} // namespace hocket::runtime
#endif
