// The host for the conformance suite of devices.
#include "Conformance/Subject.h"
#include "runtime/Device/Cpu/CpuDevice.h"

namespace hocket::test {

// out[tile] = in[tile] * scalar
static void scale(void *const *buffers, const int64_t *scalars, int64_t begin, int64_t end) {
  for (int64_t tile = begin; tile < end; ++tile)
    static_cast<int64_t *>(buffers[1])[tile] = static_cast<const int64_t *>(buffers[0])[tile] * scalars[0];
}

std::unique_ptr<Device> makeDevice(uint64_t) { return std::make_unique<CpuDevice>(2); }

const void *scaleKernel(Device &) { return reinterpret_cast<const void *>(&scale); }

} // namespace hocket::test
