// One pass over the rows of an entry, a training step or a batch of an evaluation: what runs it, and words for where in
// it something happens.
//   StepRunner   on a CPU: the host itself computes, and streams of bodies are threads
//   DeviceStep   on a device with a queue: the host queues everything, events keep it in order
#ifndef HOCKET_RUNTIME_EXECUTOR_PASSRUNNER_H
#define HOCKET_RUNTIME_EXECUTOR_PASSRUNNER_H

#include "runtime/Executor/RankContext.h"

namespace hocket::runtime {

class PassRunner {
public:
  virtual ~PassRunner() = default;
  // One pass over all rows: a training step, or with `evaluation` above 0 that batch of the evaluation after `step`.
  // When it returns, everything is done. Errors say which row, microbatch and instruction failed; the watchdog reads
  // the same from the rank's status while it runs.
  virtual Status run(uint64_t step, uint64_t evaluation = 0) = 0;
};

// That which the context's device needs. Both outlive it.
std::unique_ptr<PassRunner> makePassRunner(RankContext &context, const program::Entry &entry);

// "step 3", "batch 2 of the evaluation after step 3"
std::string passText(uint64_t step, uint64_t evaluation);
// Whether a body runs once a step: its microbatch means nothing.
bool onceAStep(const program::Body &body);
// "step 3, microbatch 1, backward", "step 3, update", "step 3, microbatch 1" of a message
std::string placeText(const RankContext &context, const program::Row &row, uint64_t step, uint64_t evaluation);

} // namespace hocket::runtime
#endif
