// See CpuDevice.h. A stream is the order of calls of one thread, so everything is done when a call returns.
#include "runtime/Device/Cpu/CpuDevice.h"
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace hocket::runtime {

Result<void *> CpuDevice::allocate(size_t bytes) {
  constexpr size_t alignment = 64;
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *memory = std::aligned_alloc(alignment, rounded ? rounded : alignment);
  if (!memory)
    return Error{ErrorKind::Lacking, fmt::format("no {} bytes of memory", bytes), {}};
  return std::memset(memory, 0, rounded);
}

void CpuDevice::free(void *memory) { std::free(memory); }

Status CpuDevice::copy(Stream &, void *to, const void *from, size_t bytes) {
  if (bytes)
    std::memmove(to, from, bytes);
  return {};
}

Status CpuDevice::zero(Stream &, void *memory, size_t bytes) {
  if (bytes)
    std::memset(memory, 0, bytes);
  return {};
}

Result<std::unique_ptr<Stream>> CpuDevice::stream() { return std::make_unique<Stream>(); }
Result<std::unique_ptr<Event>> CpuDevice::event() { return std::make_unique<Event>(); }
Status CpuDevice::record(Stream &, Event &) { return {}; }
Status CpuDevice::wait(Stream &, Event &) { return {}; }
Result<bool> CpuDevice::complete(Event &) { return true; }
Status CpuDevice::synchronize(Stream &) { return {}; }

Status CpuDevice::launch(Stream &, const Launch &launch) {
  auto kernel = reinterpret_cast<KernelFunction>(const_cast<void *>(launch.kernel));
  threadPool.parallelFor(launch.tiles, [&](int64_t begin, int64_t end) {
    kernel(launch.buffers.data(), launch.scalars.data(), begin, end);
  });
  return {};
}

Status CpuDevice::gemm(Stream &, const Gemm &gemm, const GemmBuffers &buffers) {
  if (gemm.epilogue != GemmEpilogue::None)
    return Error{ErrorKind::Invalid, "products on the CPU have no epilogues", {}};
  return cpuGemm(threadPool, gemm, buffers.a, buffers.b, buffers.c);
}

} // namespace hocket::runtime
