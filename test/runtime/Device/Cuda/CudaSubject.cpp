// The GPU of a fake driver for the conformance suite of devices: what is tested is how the driver is called.
#include "Conformance/Subject.h"
#include "runtime/Device/Cuda/CudaDevice.h"

namespace hocket::test {

std::unique_ptr<Device> makeDevice(uint64_t) {
  const char *blasFile[] = {HOCKET_FAKE_BLASLT};
  auto driver = cuda::Driver::open(HOCKET_FAKE_DRIVER);
  auto blas = cuda::BlasLt::open(blasFile);
  if (!driver || !blas)
    return nullptr;
  auto device = cuda::CudaDevice::create(*driver, *blas, 0);
  return device ? std::move(*device) : nullptr;
}

const void *scaleKernel(Device &device) {
  auto kernel = device.kernel("code", "scale");
  return kernel ? *kernel : nullptr;
}

} // namespace hocket::test
