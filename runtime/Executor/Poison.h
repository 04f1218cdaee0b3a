// For tests: an overflow on one rank at one step. HOCKET_POISON=RANK@STEP makes the first element of the first weight
// gradient that this rank computes in that step infinite.
#ifndef HOCKET_RUNTIME_EXECUTOR_POISON_H
#define HOCKET_RUNTIME_EXECUTOR_POISON_H

#include "runtime/Program/program_generated.h"
#include <cstdint>
#include <string_view>

namespace hocket::runtime {

inline constexpr char poisonVariable[] = "HOCKET_POISON";

class Poison {
public:
  Poison() = default; // harmless
  // What the environment asks of this rank; what is no RANK@STEP is nobody's.
  static Poison fromEnvironment(uint32_t rank);
  // What shall be written over the first element of what a product of a step has made; nothing: it stays. A product
  // that adds to its result is a weight gradient. The bytes live as long as the program.
  std::string_view due(const program::Instruction &instruction, uint64_t step);
  // Whether anything is still to be written.
  bool waits() const { return dueStep != 0; }

private:
  uint64_t dueStep = 0; // 0: none, or done
};

} // namespace hocket::runtime
#endif
