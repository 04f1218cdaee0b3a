// See Poison.h.
#include "runtime/Executor/Poison.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace hocket::runtime {

Poison Poison::fromEnvironment(uint32_t rank) {
  Poison poison;
  unsigned at = 0;
  unsigned long long step = 0;
  const char *text = std::getenv(poisonVariable);
  if (text && std::sscanf(text, "%u@%llu", &at, &step) == 2 && at == rank)
    poison.dueStep = step;
  return poison;
}

void Poison::apply(const program::Instruction &instruction, uint64_t step, void *result) {
  if (dueStep == 0 || step != dueStep || !instruction.gemm()->accumulate())
    return;
  dueStep = 0;
  constexpr float infinite = std::numeric_limits<float>::infinity();
  constexpr uint16_t infiniteBFloat = 0x7f80, infiniteHalf = 0x7c00;
  if (instruction.resultType() == program::DType::F32)
    std::memcpy(result, &infinite, sizeof infinite);
  else
    std::memcpy(result, instruction.resultType() == program::DType::BF16 ? &infiniteBFloat : &infiniteHalf,
                sizeof infiniteHalf);
}

} // namespace hocket::runtime
