// A device for the conformance suite: each test program links one.
#ifndef HOCKET_TEST_RUNTIME_DEVICE_CONFORMANCE_SUBJECT_H
#define HOCKET_TEST_RUNTIME_DEVICE_CONFORMANCE_SUBJECT_H

#include "runtime/Device/Device.h"

namespace hocket::test {

using namespace hocket::runtime;

// `seed` draws whatever the device may choose.
std::unique_ptr<Device> makeDevice(uint64_t seed);
// out[i] = in[i] * scalar of i64: i is the tile, or the block of one thread.
const void *scaleKernel(Device &device);

} // namespace hocket::test
#endif
