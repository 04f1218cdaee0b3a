// Runs the entry `eval`; contracts in Evaluation.h.
#include "runtime/Executor/Evaluation.h"
#include "runtime/Executor/Rank.h"
#include "runtime/Program/ProgramFile.h"
#include <cmath>
#include <fmt/format.h>

namespace hocket::runtime {

static bool canEvaluate(const program::Program &program) {
  for (const program::RankProgram *rank : *program.ranks()) {
    bool sum = false;
    for (uint32_t i = 0; rank->outputs() && i < rank->outputs()->size(); ++i)
      sum |= rank->outputs()->Get(i)->kind() == program::OutputKind::LossSum;
    if (!sum || !entryOf(*rank, program::evalEntry))
      return false;
  }
  return true;
}

Result<HeldOutReader> Evaluation::open(const RunOptions &options, const program::Program &program) {
  if (!canEvaluate(program))
    return Error{ErrorKind::Invalid, "the program has no evaluation; compile the model again", {}};
  DataSource source = sourceOf(options.data, options.evalData);
  bool trainsOnIndexed = !options.data.path.empty() && filesOf(options.data).format == DataFormat::Megatron;
  if (trainsOnIndexed && filesOf(source).format != DataFormat::Megatron)
    return Error{ErrorKind::Invalid,
                 fmt::format("the training data has a Megatron-LM index, evaluation file '{}' has none; expected files "
                             "of one type",
                             options.evalData),
                 {}};
  Result<TokenStream> stream = TokenStream::open(source);
  if (!stream)
    return std::move(stream.error());
  return HeldOutReader::create(std::move(*stream), batchShapeOf(program), options.evalSteps);
}

DataSource Evaluation::sourceOf(DataSource data, const std::string &heldOut) {
  data.path = heldOut;
  data.shuffle = false;
  return data;
}

Result<std::unique_ptr<Evaluation>> Evaluation::create(const RunOptions &options, RankContext &context) {
  if (options.evalData.empty())
    return std::unique_ptr<Evaluation>();
  Result<HeldOutReader> data = open(options, context.program);
  if (!data)
    return std::move(data.error());
  const program::Entry &entry = *entryOf(context.own, program::evalEntry);
  return std::unique_ptr<Evaluation>(new Evaluation(std::move(*data), context, entry, options.evalEvery));
}

Evaluation::Evaluation(HeldOutReader data, RankContext &context, const program::Entry &entry, uint64_t every)
    : data(std::move(data)), context(context), runner(makePassRunner(context, entry)), every(every) {}

Result<std::optional<EvaluationResult>> Evaluation::run(uint64_t step, const std::function<bool()> &mayBegin) {
  Trace::Time begin = Trace::now();
  EvaluationResult result{0, 0, 0};
  bool stopped = false;
  for (uint64_t batch = 0; batch < data.batches() && !stopped; ++batch) {
    if ((stopped = !mayBegin()))
      break;
    context.status.evaluation.store(static_cast<uint32_t>(batch + 1));
    context.status.state.store(RankState::Computing);
    auto read = [&](uint64_t microbatch, uint64_t shard, const BatchRows &rows) {
      return data.read(batch, microbatch, shard, rows);
    };
    if (Status loaded = loadInputs(context, read, step, std::nullopt); !loaded)
      return std::move(loaded.error());
    if (Status ran = runner->run(step, batch + 1); !ran)
      return std::move(ran.error());
    Result<StepOutputs> outputs = readOutputs(context);
    if (!outputs)
      return std::move(outputs.error());
    result.loss += outputs->lossSum;
    result.tokens += static_cast<uint64_t>(outputs->tokens);
  }
  context.status.evaluation.store(0);
  if (stopped)
    return std::optional<EvaluationResult>();
  result.loss /= static_cast<double>(result.tokens);
  result.seconds = std::chrono::duration<double>(Trace::now() - begin).count();
  return std::optional(result);
}

} // namespace hocket::runtime
