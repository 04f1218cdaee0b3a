// The memory of a rank's device as the host sees it, between two passes: inputs, initial values, outputs, checkpoints,
// dumps. On Cpu that is the memory itself; elsewhere a copy, fetched before it is read and put back after it is
// written.
#ifndef HOCKET_RUNTIME_EXECUTOR_DEVICEMEMORY_H
#define HOCKET_RUNTIME_EXECUTOR_DEVICEMEMORY_H

#include "runtime/Device/Device.h"
#include <functional>

namespace hocket::runtime {

class DeviceMemory {
public:
  explicit DeviceMemory(Device &device) : device(device) {}

  // Bytes of the device for the host to read, good for as long as this object and until the next pass.
  class Reading {
  public:
    const std::byte *data() const { return at; }

  private:
    friend class DeviceMemory;
    std::vector<std::byte> copy;
    const std::byte *at = nullptr;
  };
  // Nothing queued on the device may still write them. Fails as the device does.
  Result<Reading> read(const std::byte *from, size_t bytes);

  // Has `fill` write `bytes` bytes, which then are at `to`. On Cpu they are what they were before, elsewhere zero; what
  // `fill` does not write stays so. Its error is passed on.
  Status write(std::byte *to, size_t bytes, const std::function<Status(std::byte *)> &fill);

private:
  Status move(void *to, const void *from, size_t bytes);

  Device &device;
  std::unique_ptr<Stream> stream; // made when first needed
};

} // namespace hocket::runtime
#endif
