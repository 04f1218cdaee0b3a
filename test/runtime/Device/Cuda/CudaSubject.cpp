// The GPU of a fake driver for the conformance suite of devices: what is tested is how the driver is called. With
// HOCKET_TEST_DEVICE=cuda it is GPU 0 of this machine.
#include "Conformance/Subject.h"
#include "runtime/Device/Cuda/CudaDevice.h"
#include <cstdlib>

namespace hocket::test {

static bool onGpu() {
  const char *device = std::getenv("HOCKET_TEST_DEVICE");
  return device && std::string_view(device) == "cuda";
}

std::unique_ptr<Device> makeDevice(uint64_t) {
  if (onGpu()) {
    auto gpu = cuda::CudaDevice::open(0);
    return gpu ? std::move(*gpu) : nullptr;
  }
  const char *blasFile[] = {HOCKET_FAKE_BLASLT};
  auto driver = cuda::Driver::open(HOCKET_FAKE_DRIVER);
  auto blas = cuda::BlasLt::open(blasFile);
  if (!driver || !blas)
    return nullptr;
  auto device = cuda::CudaDevice::create(*driver, *blas, 0);
  return device ? std::move(*device) : nullptr;
}

static constexpr const char *scalePtx = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 from, .param .u64 to, .param .u64 factor) {
  .reg .b64 %r<7>;
  .reg .b32 %i;
  mov.u32 %i, %ctaid.x;
  mul.wide.u32 %r1, %i, 8;
  ld.param.u64 %r2, [from];
  ld.param.u64 %r3, [to];
  ld.param.u64 %r4, [factor];
  add.s64 %r2, %r2, %r1;
  add.s64 %r3, %r3, %r1;
  ld.global.u64 %r5, [%r2];
  mul.lo.s64 %r6, %r5, %r4;
  st.global.u64 [%r3], %r6;
  ret;
})";

const void *scaleKernel(Device &device) {
  auto kernel = device.kernel(onGpu() ? scalePtx : "code", "scale");
  return kernel ? *kernel : nullptr;
}

} // namespace hocket::test
