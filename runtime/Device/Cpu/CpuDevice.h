// The host as a device: one thread pool, vendor matrix products, memory from the heap.
#ifndef HOCKET_RUNTIME_DEVICE_CPU_CPUDEVICE_H
#define HOCKET_RUNTIME_DEVICE_CPU_CPUDEVICE_H

#include "runtime/Device/Cpu/Products.h"
#include "runtime/Device/Cpu/ThreadPool.h"
#include "runtime/Device/Device.h"

namespace hocket::runtime {

// C = op(A) op(B) (+ C) by oneDNN (how: Products.h), each thread of the pool computing a fixed part: of the batch if it
// has at least one product per thread, otherwise of the longer of M and N, cut at multiples of 16. The cut depends on
// the shape and the number of threads alone; small products are not cut. Fails where oneDNN refuses (Invalid; says with
// which sizes).
Status cpuGemm(ThreadPool &pool, const Gemm &gemm, const void *a, const void *b, void *c,
               BFloatProducts bfloat = bestBFloatProducts());

class CpuDevice : public Device {
public:
  explicit CpuDevice(int threads) : threadPool(threads) {}
  ThreadPool &pool() { return threadPool; }

  std::string_view name() const override { return "cpu"; }
  bool hostMemory() const override { return true; }
  Result<void *> allocate(size_t bytes) override;
  void free(void *memory) override;
  Status copy(Stream &stream, void *to, const void *from, size_t bytes) override;
  Status zero(Stream &stream, void *memory, size_t bytes) override;
  Result<std::unique_ptr<Stream>> stream() override;
  Result<std::unique_ptr<Event>> event() override;
  Status record(Stream &stream, Event &event) override;
  Status wait(Stream &stream, Event &event) override;
  Result<bool> complete(Event &event) override;
  Status synchronize(Stream &stream) override;
  Status launch(Stream &stream, const Launch &launch) override;
  Status gemm(Stream &stream, const Gemm &gemm, const GemmBuffers &buffers) override;

private:
  ThreadPool threadPool;
};

} // namespace hocket::runtime
#endif
