// What computes: memory, streams, events and launches of one device, as thin as the CUDA driver's. Cpu
// (Cpu/CpuDevice.h), Cuda (Cuda/CudaDevice.h) and the emulator (Emulator/EmulatorDevice.h) stand behind it.
//
// Work queued on one stream runs in order; work of different streams is ordered by events alone. On Cpu a call does its
// work in the calling thread (and the device's pool) and returns when it is done, so events are always complete.
// Errors of queued work may appear at a later call on the stream.
#ifndef HOCKET_RUNTIME_DEVICE_DEVICE_H
#define HOCKET_RUNTIME_DEVICE_DEVICE_H

#include "runtime/Device/Gemm.h"
#include "runtime/Program/Result.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hocket::runtime {

// A kernel of a CPU program: computes tiles [beginTile, endTile). Tiles are independent.
using KernelFunction = void (*)(void *const *buffers, const int64_t *scalars, int64_t beginTile, int64_t endTile);

// How a GPU kernel is spread out: gridDim, blockDim, bytes of dynamic shared memory.
struct GpuShape {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint32_t sharedBytes = 0;
};

// One kernel with its arguments. `kernel` is a KernelFunction on Cpu, elsewhere what Device::kernel gave. A GPU kernel
// takes the buffers, then the scalars, then the scratch where there is one. `tiles` is Cpu's, `shape` and `scratch` are
// the others'.
struct Launch {
  const void *kernel = nullptr;
  std::span<void *const> buffers;
  std::span<const int64_t> scalars;
  int64_t tiles = 1;
  GpuShape shape = {};
  void *scratch = nullptr;
};

// cudaStream_t, cudaEvent_t; destroyed when dropped.
class Stream {
public:
  virtual ~Stream() = default;
  virtual void *handle() const { return nullptr; } // for the communicator (see When)
};
class Event {
public:
  virtual ~Event() = default;
};

// Work that was captured, ready to be queued again as one piece. cudaGraphExec_t.
class Graph {
public:
  virtual ~Graph() = default;
};

// Memory that a piece of queued work reads or writes.
struct Touch {
  const void *memory = nullptr;
  size_t bytes = 0;
  bool writes = false;
};
// What a piece of work is called, and all that it touches.
struct Touches {
  std::string by;
  std::vector<Touch> memory;
};

// What a kernel was compiled to (program.fbs, GpuCode).
struct KernelCode {
  std::string_view bitcode, ptx;
  std::vector<std::pair<int, std::string_view>> cubins; // architecture (90 for sm_90), code
};

class Device {
public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0; // "cpu", "cuda", "emulator"
  // Whether the arena is memory that the host may read and write as its own, without copy and in any order with queued
  // work. Only on Cpu.
  virtual bool hostMemory() const { return false; }

  // Memory of the device, zero, aligned to 64 bytes or more. cudaMalloc, cudaFree.
  virtual Result<void *> allocate(size_t bytes) = 0;
  virtual void free(void *memory) = 0;
  // Page-locked memory of the host, zero, aligned to 64 bytes or more: copies to and from it run beside the host, and
  // the device itself may write there (mark). cudaHostAlloc, cudaFreeHost.
  virtual Result<void *> allocateHost(size_t bytes);
  virtual void freeHost(void *memory) { std::free(memory); }
  // cudaMemcpyAsync between any two of device and host memory; cudaMemsetAsync with 0.
  virtual Status copy(Stream &stream, void *to, const void *from, size_t bytes) = 0;
  virtual Status zero(Stream &stream, void *memory, size_t bytes) = 0;

  // cudaStreamCreate, cudaEventCreate, cudaEventRecord, cudaStreamWaitEvent, cudaEventQuery, cudaStreamSynchronize.
  virtual Result<std::unique_ptr<Stream>> stream() = 0;
  virtual Result<std::unique_ptr<Event>> event() = 0;
  virtual Status record(Stream &stream, Event &event) = 0;
  virtual Status wait(Stream &stream, Event &event) = 0;
  virtual Result<bool> complete(Event &event) = 0;
  virtual Status synchronize(Stream &stream) = 0;

  // Writes a number into memory of allocateHost, in order with the stream's work: how far it has come, for whoever
  // looks while it runs. cudaMemsetAsync of one word.
  virtual Status mark(Stream &stream, uint32_t *word, uint32_t value);
  // What the work after a mark is called from now on, in errors of a device that knows to which marks its faults
  // belong: the emulator.
  using MarkNames = std::function<std::string(const uint32_t *word, uint32_t value)>;
  virtual void nameMarks(MarkNames names) {}
  // An event that knows when it was reached, and the seconds between two such events that are complete.
  // cudaEventCreate, cudaEventElapsedTime.
  virtual Result<std::unique_ptr<Event>> timedEvent() { return event(); }
  virtual Result<double> seconds(Event &since, Event &until);

  // A kernel of a piece of code: a cubin or PTX (Cuda), bitcode (emulator). The same code is loaded once. The handle is
  // good as long as the device. cuModuleLoadData, cuModuleGetFunction. Kernels of Cpu are linked, not loaded (Invalid).
  virtual Result<const void *> kernel(std::string_view code, std::string_view symbol);
  // The part of it that this device loads.
  virtual std::string_view loadable(const KernelCode &code) const { return code.bitcode; }
  // Captures what is queued from here on, instead of running it: on `stream`, and on every stream that waits for an
  // event recorded there. At the end all such streams must have joined `stream` again. What is captured may wait for
  // nothing that was queued before. cudaStreamBeginCapture, cudaStreamEndCapture and cudaGraphInstantiate,
  // cudaGraphLaunch.
  virtual Status beginCapture(Stream &stream);
  virtual Result<std::unique_ptr<Graph>> endCapture(Stream &stream);
  virtual Status launch(Stream &stream, Graph &graph);
  // A number of the capture that takes what is queued on a stream; 0: it will run. cudaStreamGetCaptureInfo. Only the
  // emulator tells, for what stands in for a library there.
  virtual uint64_t capturing(Stream &stream) const { return 0; }
  // Queues work of the host. It is called until it says that it is done; in between, work of other streams goes on.
  // Only on the emulator, for what stands in for a library. Captured, it is copied for every launch: what it remembers
  // from one call to the next must be its own. What it touches is taken for touched from its first call on.
  virtual Status enqueue(Stream &stream, std::function<Result<bool>()> work, Touches touched = {});
  // cuLaunchKernel. The spans are read before the call returns.
  virtual Status launch(Stream &stream, const Launch &launch) = 0;
  // Memory of the device for products, which must outlive them all; without any, products use none. Products queued on
  // different streams at once must not share it: they are for one stream.
  virtual void gemmWorkspace(void *memory, size_t bytes) {}
  // Finds out how this product will be computed, with its memory as aligned as in `buffers`, and keeps it. Lacking
  // where the device's library has no way: so a program can be refused before its first step.
  // cublasLtMatmulAlgoGetHeuristic.
  virtual Status prepare(const Gemm &gemm, const GemmBuffers &buffers) { return {}; }
  // cublasLtMatmul. Cpu has no epilogues (Invalid).
  virtual Status gemm(Stream &stream, const Gemm &gemm, const GemmBuffers &buffers) = 0;

private:
  static Error noCapture();
};

inline Result<void *> Device::allocateHost(size_t bytes) {
  constexpr size_t alignment = 64;
  size_t rounded = (bytes + alignment) / alignment * alignment;
  void *made = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (!made)
    return Error{ErrorKind::Lacking, "no " + std::to_string(bytes) + " bytes of host memory", {}};
  return std::memset(made, 0, rounded);
}
inline Status Device::mark(Stream &, uint32_t *word, uint32_t value) {
  *word = value;
  return {};
}
inline Result<double> Device::seconds(Event &, Event &) {
  return Error{ErrorKind::Invalid, "events of this device know no times", {}};
}
inline Error Device::noCapture() { return {ErrorKind::Invalid, "this device captures nothing", {}}; }
inline Result<const void *> Device::kernel(std::string_view, std::string_view) {
  return Error{ErrorKind::Invalid, "kernels of this device are linked, not loaded", {}};
}

inline Status Device::beginCapture(Stream &) { return noCapture(); }
inline Result<std::unique_ptr<Graph>> Device::endCapture(Stream &) { return noCapture(); }
inline Status Device::launch(Stream &, Graph &) { return noCapture(); }
inline Status Device::enqueue(Stream &, std::function<Result<bool>()>, Touches) {
  return Error{ErrorKind::Invalid, "this device queues no work of the host", {}};
}

} // namespace hocket::runtime
#endif
