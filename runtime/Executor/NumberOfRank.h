// For tests: what a variable of the environment, RANK@NUMBER, asks of one rank.
#ifndef HOCKET_RUNTIME_EXECUTOR_NUMBEROFRANK_H
#define HOCKET_RUNTIME_EXECUTOR_NUMBEROFRANK_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace hocket::runtime {

// NUMBER, where the variable is set to `rank`@NUMBER; 0 otherwise: what is no RANK@NUMBER is nobody's.
inline uint64_t numberOfRank(const char *variable, uint32_t rank) {
  const char *text = std::getenv(variable);
  unsigned at = 0;
  unsigned long long number = 0;
  return text && std::sscanf(text, "%u@%llu", &at, &number) == 2 && at == rank ? number : 0;
}

} // namespace hocket::runtime
#endif
