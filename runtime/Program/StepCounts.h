// What one training step computes and sends, counted from the program alone; for rates in metrics.
#ifndef HOCKET_RUNTIME_PROGRAM_STEPCOUNTS_H
#define HOCKET_RUNTIME_PROGRAM_STEPCOUNTS_H

#include "runtime/Program/Mesh.h"

namespace hocket::program {

struct StepCounts {
  double flops = 0;       // of all ranks: products by their sizes (2 m n k), kernels as the compiler counts them
  uint64_t sentBytes = 0; // by all ranks, where rings are used: all_reduce 2 (n-1)/n of its bytes, the other
                          // collectives (n-1)/n of the larger side, messages whole
  uint64_t mostSentBytes = 0; // by the rank that sends most
};
StepCounts countStep(const Mesh &mesh, const Program &program);

} // namespace hocket::program
#endif
