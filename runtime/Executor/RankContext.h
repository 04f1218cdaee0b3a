// What one rank has in hand while it runs: the checked program, its place, its memory, its communicators.
#ifndef HOCKET_RUNTIME_EXECUTOR_RANKCONTEXT_H
#define HOCKET_RUNTIME_EXECUTOR_RANKCONTEXT_H

#include "runtime/Comm/CallLog.h"
#include "runtime/Comm/Communicator.h"
#include "runtime/Comm/RankStatus.h"
#include "runtime/Device/Device.h"
#include "runtime/Executor/DeviceMemory.h"
#include "runtime/Executor/Poison.h"
#include "runtime/Executor/Stall.h"
#include "runtime/Executor/Trace.h"
#include "runtime/Program/Mesh.h"

namespace hocket::runtime {

// A kernel of the executable: hocket_kernels[hocket_kernel_count], in any order.
struct KernelEntry {
  const char *name;
  void *function;
};

// A kernel of a program for GPUs, loaded: launches one after another, all with the same parameters.
struct GpuKernel {
  struct Launch {
    const void *function;
    GpuShape shape;
  };
  std::vector<Launch> launches;
  bool scratch = false; // the last parameter is the scratch
};

struct RankContext {
  const program::Program &program; // passed `open`
  program::Mesh mesh;
  uint32_t rank;
  const program::RankProgram &own; // of this rank's stage
  std::byte *arena;                // own.arenaBytes(), zero at the start; of the device
  std::byte *host = nullptr;       // own.hostBytes(), zero at the start; see reserveHost
  World &world;                    // in which the program's communicators are
  World &meeting;                  // of the hosts: the same on Cpu, elsewhere that which brought the ranks together
  RankStatus &status;
  Device &device;
  std::unique_ptr<DeviceMemory> memory;
  CallLog *calls = nullptr; // none: calls of communicators are not written down
  Trace *trace = nullptr;   // none: not traced
  double waitSeconds = 60;  // no wait takes longer
  bool checkFinite = false;
  Poison poison; // for tests
  Stall stall;   // for tests

  std::vector<const void *> kernels;                        // by kernel of the program; of the executable
  std::vector<GpuKernel> gpuKernels;                        // by kernel of the program, on a device that loads them
  std::vector<int64_t> scalars;                             // by rank-dependent number of the program
  std::vector<std::unique_ptr<Communicator>> communicators; // by communicator of the program; null: not a member
  Communicator *everyone = nullptr; // of all ranks, for memory of the host; one of the program's, or its own

  RankContext(const program::Program &program, uint32_t rank, std::byte *arena, World &world, World &meeting,
              RankStatus &status, Device &device);

  // Finds the program's kernels in the executable's table. Fails (Invalid) with the names of those that are missing.
  Status findKernels(std::span<const KernelEntry> table);
  // Loads the program's kernels into the device, and gives products their workspace.
  Status loadKernels();
  // Takes the host's memory. On Cpu it is memory like the arena's, private to the process; elsewhere it is page-locked.
  // Fails (Lacking) where there is too little.
  Status reserveHost();
  // Makes this rank's communicators, in the order of groupsOf.
  Status connect();

  std::byte *address(const program::Buffer &buffer, uint32_t microbatch, uint32_t slot) const;
  // What kernels on stream 0 may use while they run.
  std::byte *scratch() const { return arena + own.scratchOffset(); }
  // A string of the program by index.
  std::string_view text(uint32_t index) const { return program.strings()->Get(index)->string_view(); }

private:
  std::unique_ptr<std::byte, std::function<void(std::byte *)>> hostMemory;
  std::unique_ptr<Communicator> ownEveryone; // where the program has none of all ranks
};

inline ElementType elementType(program::DType type) { return static_cast<ElementType>(type); }

} // namespace hocket::runtime
#endif
