// For tests: work on a stream of a body that never ends. HOCKET_STALL=RANK@STEP makes the first collective or transfer
// that this rank starts on such a stream in that step wait until the process is gone. Of devices with queues the
// emulator alone can do that.
#ifndef HOCKET_RUNTIME_EXECUTOR_STALL_H
#define HOCKET_RUNTIME_EXECUTOR_STALL_H

#include "runtime/Device/Device.h"
#include <cstdint>

namespace hocket::runtime {

inline constexpr char stallVariable[] = "HOCKET_STALL";

class Stall {
public:
  Stall() = default; // harmless
  // What the environment asks of this rank; what is no RANK@STEP is nobody's.
  static Stall fromEnvironment(uint32_t rank);
  // Before work on a stream of a body, in its thread.
  void apply(uint64_t step) const;
  // On a device with queues: what is queued behind this never runs.
  Status apply(uint64_t step, Device &device, Stream &stream) const;
  // Whether some step is to hang.
  bool waits() const { return dueStep != 0; }

private:
  uint64_t dueStep = 0; // 0: none
};

} // namespace hocket::runtime
#endif
