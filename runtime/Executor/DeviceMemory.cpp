// See DeviceMemory.h.
#include "runtime/Executor/DeviceMemory.h"

namespace hocket::runtime {

Status DeviceMemory::move(void *to, const void *from, size_t bytes) {
  if (!stream) {
    Result<std::unique_ptr<Stream>> made = device.stream();
    if (!made)
      return std::move(made.error());
    stream = std::move(*made);
  }
  if (Status copied = device.copy(*stream, to, from, bytes); !copied)
    return copied;
  return device.synchronize(*stream);
}

Result<DeviceMemory::Reading> DeviceMemory::read(const std::byte *from, size_t bytes) {
  Reading result;
  result.at = from;
  if (device.hostMemory())
    return result;
  result.copy.resize(bytes);
  if (Status moved = move(result.copy.data(), from, bytes); !moved)
    return std::move(moved.error());
  result.at = result.copy.data();
  return result;
}

Status DeviceMemory::write(std::byte *to, size_t bytes, const std::function<Status(std::byte *)> &fill) {
  if (device.hostMemory())
    return fill(to);
  std::vector<std::byte> copy(bytes);
  if (Status filled = fill(copy.data()); !filled)
    return filled;
  return move(to, copy.data(), bytes);
}

} // namespace hocket::runtime
