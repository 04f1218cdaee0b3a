// A GPU behind the driver. One thread uses it: the driver's current context is that thread's.
#ifndef HOCKET_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define HOCKET_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/Device/Cuda/CudaGemm.h"
#include "runtime/Device/Device.h"
#include <map>
#include <string>

namespace hocket::runtime::cuda {

class CudaDevice : public Device {
public:
  // GPU `ordinal` of those this process sees. Lacking (exit status 4) says what of driver, GPU and cublasLt is missing
  // or too old, and which is needed.
  static Result<std::unique_ptr<CudaDevice>> open(int ordinal);
  static Result<std::unique_ptr<CudaDevice>> create(Driver driver, BlasLt blas, int ordinal);
  ~CudaDevice() override;

  std::string_view name() const override { return "cuda"; }
  const std::string &gpu() const { return gpuName; }     // "NVIDIA H100 80GB HBM3"
  int architecture() const { return computeCapability; } // 90 for sm_90
  Result<void *> allocate(size_t bytes) override;
  void free(void *memory) override;
  Result<void *> allocateHost(size_t bytes) override;
  void freeHost(void *memory) override;
  Status copy(Stream &stream, void *to, const void *from, size_t bytes) override;
  Status zero(Stream &stream, void *memory, size_t bytes) override;
  Result<std::unique_ptr<Stream>> stream() override;
  Result<std::unique_ptr<Event>> event() override;
  Result<std::unique_ptr<Event>> timedEvent() override;
  Result<double> seconds(Event &since, Event &until) override;
  Status mark(Stream &stream, uint32_t *word, uint32_t value) override;
  Status record(Stream &stream, Event &event) override;
  Status wait(Stream &stream, Event &event) override;
  Result<bool> complete(Event &event) override;
  Status synchronize(Stream &stream) override;
  Result<const void *> kernel(std::string_view code, std::string_view symbol) override;
  // The cubin of this GPU's major architecture with the greatest minor not above its own, else the PTX.
  std::string_view loadable(const KernelCode &code) const override;
  Status launch(Stream &stream, const Launch &launch) override;
  // Relaxed: NCCL queues from threads of its own. cuStreamBeginCapture, cuStreamEndCapture and cuGraphInstantiate,
  // cuGraphLaunch.
  Status beginCapture(Stream &stream) override;
  Result<std::unique_ptr<Graph>> endCapture(Stream &stream) override;
  Status launch(Stream &stream, Graph &graph) override;
  void gemmWorkspace(void *memory, size_t bytes) override;
  Status prepare(const Gemm &gemm, const GemmBuffers &buffers) override;
  Status gemm(Stream &stream, const Gemm &gemm, const GemmBuffers &buffers) override;

private:
  explicit CudaDevice(Driver driver) : driver(driver) {}
  Status start(BlasLt blas, int ordinal);
  Result<std::unique_ptr<Event>> makeEvent(unsigned flags);
  Status zeroProduct(Handle stream, const Gemm &gemm, void *c);

  Driver driver;
  DeviceNumber number = 0;
  Handle context = nullptr;
  std::string gpuName;
  int computeCapability = 0;
  std::unique_ptr<Products> products;
  std::map<std::string, Handle, std::less<>> modules; // by code
  std::map<Handle, uint32_t> mostShared;              // of a function, as far as it was raised
};

} // namespace hocket::runtime::cuda
#endif
