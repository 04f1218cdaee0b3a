// Whether this machine's CPU has what the kernels were compiled for.
#ifndef HOCKET_RUNTIME_EXECUTOR_CPUFEATURES_H
#define HOCKET_RUNTIME_EXECUTOR_CPUFEATURES_H

#include "runtime/Program/Result.h"
#include "runtime/Program/program_generated.h"

namespace hocket::runtime {

// Those of `features` (LLVM's names, "avx512f", "sse4.2") that `flags` (as /proc/cpuinfo lists them, "sse4_2") lack.
// Features that Linux does not report are taken as present.
std::vector<std::string> missingFeatures(const std::vector<std::string> &features, const std::string &flags);

// Fails (Lacking) with the names of all missing features.
Status checkCpu(const program::Program &program);

} // namespace hocket::runtime
#endif
