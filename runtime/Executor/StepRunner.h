// Runs the rows of one entry on one rank. Event-driven: stream 0 computes in the calling thread, every other stream has
// at most one message on its way; a row starts when its waits are satisfied. Messages go on while stream 0 waits in a
// collective, as the deadlock judge assumes: every stream runs by itself. While nothing can go on, the rank sleeps
// until one of its messages may have moved. Streams of bodies are threads of their own (BodyStream.h); messages go on
// while stream 0 awaits one, too.
#ifndef HOCKET_RUNTIME_EXECUTOR_STEPRUNNER_H
#define HOCKET_RUNTIME_EXECUTOR_STEPRUNNER_H

#include "runtime/Executor/BodyStream.h"
#include "runtime/Executor/FiniteCheck.h"
#include "runtime/Executor/PassRunner.h"
#include <optional>

namespace hocket::runtime {

class StepRunner : public PassRunner {
public:
  StepRunner(RankContext &context, const program::Entry &entry);

  Status run(uint64_t step, uint64_t evaluation = 0) override;

private:
  struct StreamState {
    std::vector<uint32_t> rows; // of the entry, in order
    uint32_t done = 0;
    std::unique_ptr<Request> posted;
    Trace::Time begin;
  };

  const program::Row &head(const StreamState &stream) const;
  bool finished(const StreamState &stream) const { return stream.done == stream.rows.size(); }
  bool ready(const StreamState &stream) const;
  Result<bool> advanceMessages();
  Status runRows();
  bool progressInCollective();
  Status post(StreamState &stream);
  Status runBody(const program::Row &row);
  Status runHere(const program::Instruction &instruction, uint32_t index, const program::Row &row);
  Status runInstruction(const program::Instruction &instruction, const program::Row &row);
  void startOnStream(const program::Instruction &instruction, uint32_t index, const program::Row &row);
  Status await(const program::Instruction &instruction, uint32_t index, const program::Row &row);
  void publishInstruction(const program::Instruction &instruction, uint32_t index);
  void traceStreams(const program::Row &row);
  void endBodyStreams(const Error &error);
  Status sleep(Deadline deadline);
  void addWaited(Trace::Time since);
  void publish(RankState state, const program::Row &row, uint32_t rowIndex);
  void publishWait();
  Error explain(Error error, const program::Row &row, std::string_view what, uint32_t source) const;

  RankContext &context;
  const program::Entry &entry;
  std::vector<StreamState> streams;
  std::unique_ptr<Stream> computeStream;
  // By body stream of the program; made when first run.
  std::vector<std::unique_ptr<Stream>> deviceStreams;
  std::vector<std::unique_ptr<BodyStream>> bodyStreams;
  std::optional<FiniteCheck> finite; // none: not asked for
  std::optional<Error> messageError; // met while stream 0 waited in a collective
  std::vector<void *> pointers;      // of the running instruction
  std::vector<int64_t> arguments;    // of the running instruction
  uint64_t step = 0, evaluation = 0;
};

} // namespace hocket::runtime
#endif
