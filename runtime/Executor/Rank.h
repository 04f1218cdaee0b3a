// One rank of a run, from exec to exit.
#ifndef HOCKET_RUNTIME_EXECUTOR_RANK_H
#define HOCKET_RUNTIME_EXECUTOR_RANK_H

#include "runtime/Data/BatchReader.h"
#include "runtime/Executor/RankContext.h"
#include "runtime/Executor/RankHost.h"
#include "runtime/Executor/RunOptions.h"
#include <functional>

namespace hocket::runtime {

// What is linked into an executable: the program file (any alignment) and the kernels.
struct RankImage {
  std::span<const uint8_t> program;
  std::span<const KernelEntry> kernels;
};

// Runs one rank and returns its exit status: 0 done, 1 the input is at fault, 3 failed, 4 this machine lacks something.
// The message of a failure is in the rank's status.
int runRank(const RankImage &image, const RunOptions &options, RankHost &host);

// The same for the rank of hocket-run that the environment describes (RunOptions); 2: it describes none. As long as
// there is no status a message is on stderr.
int runRank(const RankImage &image);

// The batch that a program reads.
BatchShape batchShapeOf(const program::Program &program);

// The scalar outputs of a step; what the program does not have is NaN.
struct StepOutputs {
  double loss, gradientNorm, learningRate, tokens, lossSum;
  double lossScale, skipped, exhausted; // of a loss scale; the last two 0 or 1
};
// Fails as the device does.
Result<StepOutputs> readOutputs(const RankContext &context);

// Reads the rows of one microbatch of one data shard, as BatchReader::read does at one cursor.
using ReadRows = std::function<Status(uint64_t microbatch, uint64_t dataShard, const BatchRows &rows)>;
// Fills the inputs of one pass: tokens, labels and documents of all microbatches, the step's number, and the draws of
// dropout from `seed`; 0 (nothing is dropped) without one.
Status loadInputs(RankContext &context, const ReadRows &read, uint64_t step, std::optional<uint64_t> seed);
// The entry of that name; null if there is none.
const program::Entry *entryOf(const program::RankProgram &rank, std::string_view name);

} // namespace hocket::runtime
#endif
