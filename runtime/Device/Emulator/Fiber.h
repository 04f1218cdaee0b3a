// Stacks that take turns in one thread of the host.
#ifndef HOCKET_RUNTIME_DEVICE_EMULATOR_FIBER_H
#define HOCKET_RUNTIME_DEVICE_EMULATOR_FIBER_H

#include <cstddef>
#include <vector>

namespace hocket::runtime::emulator {

// Leaves the running stack, whose pointer goes to *save, for another one. Keeps what the System V ABI says a call
// keeps.
extern "C" void hocketEmulatorSwitch(void **save, void *to);

// Stacks of 128 KiB, each above a page that may not be touched. Reused from launch to launch.
class Stacks {
public:
  static constexpr size_t bytes = 128 << 10;
  Stacks() = default;
  Stacks(const Stacks &) = delete;
  Stacks &operator=(const Stacks &) = delete;
  ~Stacks();
  // At least `count` stacks; false when there is no memory.
  bool grow(size_t count);
  std::byte *operator[](size_t i) const { return stacks[i]; }
  // The stack pointer from which a switch enters `entry`, which must not return.
  static void *enter(std::byte *stack, void (*entry)());

private:
  std::vector<std::byte *> stacks;
};

} // namespace hocket::runtime::emulator
#endif
