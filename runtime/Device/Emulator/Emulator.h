// Runs GPU kernels on the CPU, from the very bitcode that goes to the NVPTX backend: one fiber per GPU thread, one
// block after the other. Barriers, warp collectives, shared memory, ldmatrix, mma.sync and cp.async do what PTX says
// they do; what is not known here is refused by name when a module is loaded.
//
// The checker (on unless told otherwise) reports races in shared memory and in global memory (within a block and
// between blocks of one launch), accesses outside memory that was made known, accesses less aligned than the IR claims,
// reads of shared memory that nobody wrote, reads of a cp.async that was not waited for, and barriers that some threads
// do not reach. It sees the order that barriers make, not the order in which fibers happen to run: a race is found even
// where this run's result is right.
//
// Not shown by a run here: what the NVPTX backend and ptxas make of the bitcode, the rounding of *.approx instructions
// (here: correctly rounded, or libm's), the order of sums inside mma.sync (here: ascending k, in f32), and speed.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_EMULATOR_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_EMULATOR_H

#include "runtime/Device/Device.h"
#include "runtime/Device/Emulator/Fault.h"
#include "runtime/Program/Result.h"
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::runtime::emulator {

struct Options {
  bool check = true;         // the checker, except:
  bool uninitialised = true; // reads of shared memory that nobody wrote
  // libdevice.10.bc. Empty: that of CUDA_HOME, CUDA_PATH or /usr/local/cuda, and without any the host's libm for the
  // functions known by name.
  std::string libdevice;
};

struct Kernel {
  std::string name;
  std::vector<uint32_t> argumentBytes;
};

// How much work launches were.
struct Counts {
  uint64_t switches = 0, barriers = 0, collectives = 0;
};

// A module, ready to run. Belongs to the emulator that loaded it.
class KernelModule {
public:
  virtual ~KernelModule() = default;
  virtual const std::vector<Kernel> &kernels() const = 0;
  virtual uint32_t staticSharedBytes() const = 0;
};

// One emulated device. Belongs to one thread at a time.
class Emulator {
public:
  explicit Emulator(Options options = {});
  ~Emulator();

  // Compiles LLVM bitcode (or IR text) for nvptx64. The same text is compiled once; a later call returns the same
  // module. Fails (Invalid) with every intrinsic, function and inline assembly that is not known, by name; (Lacking)
  // where this CPU has no AVX2.
  Result<const KernelModule *> load(std::string_view bitcode);

  // Global memory that kernels may touch, with a name for reports. Regions do not overlap.
  void addRegion(const void *begin, size_t bytes, std::string name);
  void removeRegion(const void *begin);

  // Runs all blocks. Arguments as cuLaunchKernel takes them: a pointer to each value. An error lists every fault, one a
  // line; the first of many alike is told, the others are counted. After a fault that leaves nothing to go on with (a
  // barrier never reached) the launch ends; after others it goes on, reads getting 0xFF and writes getting lost.
  Status launch(const KernelModule &module, std::string_view kernel, Extent grid, Extent block,
                uint32_t dynamicSharedBytes, std::span<const void *const> arguments);

  const std::vector<Fault> &faults() const; // of the last launch
  std::vector<Touch> touched() const;       // global memory that it read and wrote; nothing without the checker
  const Counts &counts() const;             // of all launches

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace hocket::runtime::emulator
#endif
