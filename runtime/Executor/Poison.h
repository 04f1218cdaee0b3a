// For tests: an overflow on one rank at one step. HOCKET_POISON=RANK@STEP makes the first element of the first weight
// gradient that this rank computes in that step infinite.
#ifndef HOCKET_RUNTIME_EXECUTOR_POISON_H
#define HOCKET_RUNTIME_EXECUTOR_POISON_H

#include "runtime/Program/program_generated.h"
#include <cstdint>

namespace hocket::runtime {

inline constexpr char poisonVariable[] = "HOCKET_POISON";

class Poison {
public:
  Poison() = default; // harmless
  // What the environment asks of this rank; what is no RANK@STEP is nobody's.
  static Poison fromEnvironment(uint32_t rank);
  // After an instruction of a step: `result` is what it wrote. A product that adds to its result is a weight gradient.
  void apply(const program::Instruction &instruction, uint64_t step, void *result);

private:
  uint64_t dueStep = 0; // 0: none, or done
};

} // namespace hocket::runtime
#endif
