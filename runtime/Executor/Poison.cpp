// See Poison.h.
#include "runtime/Executor/Poison.h"
#include "runtime/Executor/NumberOfRank.h"
#include <limits>

namespace hocket::runtime {

Poison Poison::fromEnvironment(uint32_t rank) {
  Poison poison;
  poison.dueStep = numberOfRank(poisonVariable, rank);
  return poison;
}

std::string_view Poison::due(const program::Instruction &instruction, uint64_t step) {
  if (dueStep == 0 || step != dueStep || !instruction.gemm()->accumulate())
    return {};
  dueStep = 0;
  static constexpr float infinite = std::numeric_limits<float>::infinity();
  static constexpr uint16_t infiniteBFloat = 0x7f80, infiniteHalf = 0x7c00;
  if (instruction.resultType() == program::DType::F32)
    return {reinterpret_cast<const char *>(&infinite), sizeof infinite};
  const uint16_t &narrow = instruction.resultType() == program::DType::BF16 ? infiniteBFloat : infiniteHalf;
  return {reinterpret_cast<const char *>(&narrow), sizeof narrow};
}

} // namespace hocket::runtime
