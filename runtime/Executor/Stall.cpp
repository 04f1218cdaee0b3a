// See Stall.h.
#include "runtime/Executor/Stall.h"
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace hocket::runtime {

Stall Stall::fromEnvironment(uint32_t rank) {
  Stall stall;
  unsigned at = 0;
  unsigned long long step = 0;
  const char *text = std::getenv(stallVariable);
  if (text && std::sscanf(text, "%u@%llu", &at, &step) == 2 && at == rank)
    stall.dueStep = step;
  return stall;
}

void Stall::apply(uint64_t step) const {
  while (dueStep && step == dueStep)
    ::pause();
}

} // namespace hocket::runtime
