// For tests: work on a stream of a body that never ends. HOCKET_STALL=RANK@STEP makes the first collective or transfer
// that this rank starts on such a stream in that step wait until the process is gone.
#ifndef HOCKET_RUNTIME_EXECUTOR_STALL_H
#define HOCKET_RUNTIME_EXECUTOR_STALL_H

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

private:
  uint64_t dueStep = 0; // 0: none
};

} // namespace hocket::runtime
#endif
