// See Stall.h.
#include "runtime/Executor/Stall.h"
#include "runtime/Executor/NumberOfRank.h"
#include <unistd.h>

namespace hocket::runtime {

Stall Stall::fromEnvironment(uint32_t rank) {
  Stall stall;
  stall.dueStep = numberOfRank(stallVariable, rank);
  return stall;
}

void Stall::apply(uint64_t step) const {
  while (dueStep && step == dueStep)
    ::pause();
}

Status Stall::apply(uint64_t step, Device &device, Stream &stream) const {
  return dueStep && step == dueStep ? device.enqueue(stream, []() -> Result<bool> { return false; }) : Status();
}

} // namespace hocket::runtime
