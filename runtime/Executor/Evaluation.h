// Evaluation on a held-out file, between training steps: the program's entry `eval` on every batch of it. Forward only:
// parameters and optimizer state are not written, and what a step leaves in accumulators and activations is begun anew
// by the step that follows, so a run with evaluations trains exactly as one without.
#ifndef HOCKET_RUNTIME_EXECUTOR_EVALUATION_H
#define HOCKET_RUNTIME_EXECUTOR_EVALUATION_H

#include "runtime/Data/HeldOutReader.h"
#include "runtime/Executor/PassRunner.h"
#include "runtime/Executor/RunOptions.h"

namespace hocket::runtime {

// The mean over all counted tokens of the file: batches give sums and counts, added in double precision.
struct EvaluationResult {
  double loss;
  uint64_t tokens;
  double seconds;
};

class Evaluation {
public:
  // The held-out file of the options, checked against the program. Fails (Invalid) for a program without evaluation.
  // What held-out data is: a file or prefix of its own, in all else like the data that is trained on.
  static DataSource sourceOf(DataSource data, const std::string &heldOut);
  static Result<HeldOutReader> open(const RunOptions &options, const program::Program &program);
  // `context` outlives it. Null where the options name no file.
  static Result<std::unique_ptr<Evaluation>> create(const RunOptions &options, RankContext &context);

  // Whether it is asked for after this step: where it is a multiple of --eval-every. (Before the first step and after
  // the last it always is; only the rank knows which these are.)
  bool due(uint64_t step) const { return every && step % every == 0; }
  // Evaluates what `step` left; every rank does. `mayBegin` is asked before each batch; nothing is returned where it
  // says no.
  Result<std::optional<EvaluationResult>> run(uint64_t step, const std::function<bool()> &mayBegin);

private:
  Evaluation(HeldOutReader data, RankContext &context, const program::Entry &entry, uint64_t every);
  HeldOutReader data;
  RankContext &context;
  std::unique_ptr<PassRunner> runner;
  uint64_t every;
};

} // namespace hocket::runtime
#endif
