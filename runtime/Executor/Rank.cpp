// The life of one rank; contracts in Rank.h.
#include "runtime/Executor/Rank.h"
#include "runtime/Executor/CpuFeatures.h"
#include "runtime/Executor/Evaluation.h"
#include "runtime/Executor/FiniteCheck.h"
#include "runtime/Executor/InitialValues.h"
#include "runtime/Executor/LossScale.h"
#include "runtime/Executor/OutOfMemory.h"
#include "runtime/Executor/PassRunner.h"
#include "runtime/Executor/RankDevice.h"
#include "runtime/Executor/SaveAndResume.h"
#include "runtime/Executor/ShmHost.h"
#include "runtime/Executor/StateDump.h"
#include "runtime/Program/ProgramFile.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hocket::runtime {

namespace {
class Rank {
public:
  Rank(const RunOptions &options, RankHost &host)
      : options(options), host(host), world(host.world()), seed(options.seed) {}
  Status run(const RankImage &image);

private:
  Status openProgram(const RankImage &image);
  Status live(RankContext &context, const RankImage &image);
  void endDevice(RankContext &context, const Error &error);
  Status prepare(RankContext &context);
  Status startState(RankContext &context);
  Status train(RankContext &context);
  Status trainSteps(RankContext &context, PassRunner &runner, const BatchReader &data);
  Status evaluate(uint64_t step);
  bool mayBegin() { return host.mayBegin(++passes); }
  Status finishStep(RankContext &context, uint64_t step, double seconds);
  Status reportSaved(Result<bool> saved) const;

  const RunOptions &options;
  RankHost &host;
  World &world;
  std::vector<uint8_t> copy;
  const program::Program *program = nullptr;
  Trace trace;
  uint64_t done = 0;    // steps since the start of training
  uint64_t samples = 0; // read by them: the data cursor
  uint64_t seed;
  ThreadPool *pool = nullptr;
  std::optional<Saver> saver;
  std::unique_ptr<Evaluation> evaluation; // null: not asked for
  bool ended = false;                     // endDevice was called
  uint64_t passes = 0;
};
} // namespace

// The program file at an address that `open` takes; `copy` holds it where it lies at another one.
static std::span<const uint8_t> alignedProgram(const RankImage &image, std::vector<uint8_t> &copy) {
  std::span<const uint8_t> bytes = image.program;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % program::fileAlignment == 0)
    return bytes;
  copy.resize(bytes.size() + program::fileAlignment);
  uint8_t *aligned =
      copy.data() + (program::fileAlignment - reinterpret_cast<uintptr_t>(copy.data()) % program::fileAlignment);
  std::memcpy(aligned, bytes.data(), bytes.size());
  return {aligned, bytes.size()};
}

Status Rank::openProgram(const RankImage &image) {
  program::Opened opened = program::open(alignedProgram(image, copy));
  program = opened.program;
  if (!program)
    return Error{ErrorKind::Invalid, fmt::format("{}", fmt::join(opened.faults, "; ")), {}};
  return {};
}

Status Rank::run(const RankImage &image) {
  if (Status opened = openProgram(image); !opened)
    return opened;
  if (Status fits = checkCpu(*program); !fits)
    return fits;
  program::Mesh mesh(*program);
  if (mesh.worldSize() != static_cast<uint32_t>(world.size()))
    return Error{ErrorKind::Invalid,
                 fmt::format("compiled for {} rank{} ({}), started with {}", mesh.worldSize(),
                             mesh.worldSize() == 1 ? "" : "s", mesh.sizesText(), world.size()),
                 {}};
  auto rank = static_cast<uint32_t>(world.rank());
  const program::RankProgram &own = *program->ranks()->Get(program::stageOf(mesh, *program, rank));
  Result<std::unique_ptr<RankDevice>> opened = RankDevice::open(*program, own, options, world);
  if (!opened)
    return std::move(opened.error());
  RankDevice &on = **opened;
  std::unique_ptr<CallLog> calls;
  if (!options.calls.empty()) {
    Result<std::unique_ptr<CallLog>> made = CallLog::create(options.calls);
    if (!made)
      return std::move(made.error());
    calls = std::move(*made);
  }
  RankContext context(*program, rank, on.arena(), on.world(), world, host.status(), on.device());
  context.calls = calls.get();
  pool = &on.pool();
  // The launcher's watchdog is the judge of who stalls; a rank's own limit only ends a run whose watchdog is gone.
  context.waitSeconds = std::max(600.0, 10 * options.timeoutSeconds);
  context.checkFinite = options.checkFinite;
  context.poison = Poison::fromEnvironment(context.rank);
  context.stall = Stall::fromEnvironment(context.rank);
  context.trace = options.trace.empty() ? nullptr : &trace;
  Status done = live(context, image);
  if (!done)
    endDevice(context, done.error());
  evaluation.reset();
  return done;
}

// What is still queued would never end where a peer is gone, nor could a stream, a communicator or memory that the
// device writes then be given back.
void Rank::endDevice(RankContext &context, const Error &error) {
  if (context.device.hostMemory() || std::exchange(ended, true))
    return;
  if (error.kind != ErrorKind::Aborted)
    host.status().fail(error.message);
  context.world.abort(error.message);
}

Status Rank::live(RankContext &context, const RankImage &image) {
  if (Status reserved = context.reserveHost(); !reserved)
    return reserved;
  if (Status found = isForGpus(*program) ? context.loadKernels() : context.findKernels(image.kernels); !found)
    return found;
  if (Status connected = context.connect(); !connected)
    return connected;
  if (Status ready = prepare(context); !ready)
    return ready;
  Result<std::unique_ptr<Evaluation>> made = Evaluation::create(options, context);
  if (!made)
    return std::move(made.error());
  evaluation = std::move(*made);
  if (Status trained = train(context); !trained)
    return trained;
  host.status().state.store(RankState::Done);
  return host.leave();
}

Status Rank::prepare(RankContext &context) {
  if (Status started = startState(context); !started)
    return started;
  if (options.checkFinite)
    if (Status finite = FiniteCheck(context).state("before the first step"); !finite)
      return finite;
  if (std::count(options.dumpSteps.begin(), options.dumpSteps.end(), done))
    return dumpState(context, options.dump, done);
  return {};
}

// Initial values, or what a checkpoint holds.
Status Rank::startState(RankContext &context) {
  std::optional<uint64_t> saved;
  for (uint32_t i = 0; context.own.state() && i < context.own.state()->size(); ++i) {
    const program::State &state = *context.own.state()->Get(i);
    if (!options.resume.empty() && state.kind() != program::StateKind::Scalar)
      continue; // a checkpoint without it cannot be resumed
    auto fill = [&](std::byte *to) {
      initialise(to, state, context.mesh, context.rank, seed, *pool);
      return Status();
    };
    if (Status filled = context.memory->write(context.address(*state.buffer(), 0, 0), state.buffer()->bytes(), fill);
        !filled)
      return filled;
    context.status.heartbeat.fetch_add(1, std::memory_order_relaxed);
  }
  if (!options.resume.empty()) {
    Result<Resumed> from = resume(context, options);
    if (!from)
      return std::move(from.error());
    done = from->step;
    samples = from->samples;
    seed = from->seed;
    if (from->folder == checkpoint::stepFolder(options.save, done))
      saved = done;
    if (options.rank == 0)
      host.report({{"event", "resumed"}, {"step", done}});
  }
  saver.emplace(context, options, seed, saved);
  return {};
}

Status Rank::train(RankContext &context) {
  const program::Entry &entry = *entryOf(context.own, program::trainEntry); // `open` saw to it that there is one
  bool evaluatedBefore = done > 0 && done < options.steps;                  // by the run that this one goes on from
  if (!evaluatedBefore)
    if (Status evaluated = evaluate(done); !evaluated)
      return evaluated;
  if (done < options.steps) {
    Result<TokenStream> stream = TokenStream::open(options.data);
    if (!stream)
      return std::move(stream.error());
    Result<BatchReader> data = BatchReader::create(std::move(*stream), batchShapeOf(*program), seed);
    if (!data)
      return std::move(data.error());
    std::unique_ptr<PassRunner> runner = makePassRunner(context, entry);
    if (Status trained = trainSteps(context, *runner, *data); !trained) {
      endDevice(context, trained.error());
      return trained;
    }
  }
  if (Status kept = reportSaved(saver->atEnd(done, samples)); !kept)
    return kept;
  if (options.trace.empty())
    return {};
  std::vector<std::string> streams;
  for (const auto *stream : *entry.streams())
    streams.push_back(stream->str());
  std::vector<std::string> bodyStreams;
  for (uint32_t i = 0; context.own.bodyStreams() && i < context.own.bodyStreams()->size(); ++i)
    bodyStreams.push_back(context.own.bodyStreams()->Get(i)->str());
  return trace.write(options.trace, options.rank, context.mesh.text(context.rank), streams, bodyStreams);
}

Status Rank::trainSteps(RankContext &context, PassRunner &runner, const BatchReader &data) {
  for (uint64_t step = done + 1; step <= options.steps && mayBegin(); ++step) {
    Trace::Time begin = Trace::now();
    context.status.step.store(step);
    context.status.state.store(RankState::Computing);
    auto read = [&](uint64_t microbatch, uint64_t shard, const BatchRows &rows) {
      return data.read(samples, microbatch, shard, rows);
    };
    if (Status loaded = loadInputs(context, read, step, seed); !loaded)
      return loaded;
    if (Status ran = runner.run(step); !ran)
      return ran;
    if (Status finished = finishStep(context, step, std::chrono::duration<double>(Trace::now() - begin).count());
        !finished)
      return finished;
    done = step;
    samples += program->globalBatch();
    if (step == options.steps || (evaluation && evaluation->due(step)))
      if (Status evaluated = evaluate(step); !evaluated)
        return evaluated;
    if (Status kept = reportSaved(saver->afterStep(step, samples)); !kept)
      return kept;
  }
  return {};
}

Status Rank::evaluate(uint64_t step) {
  if (!evaluation)
    return {};
  Result<std::optional<EvaluationResult>> ran = evaluation->run(step, [this] { return mayBegin(); });
  if (!ran)
    return std::move(ran.error());
  if (*ran && options.rank == 0)
    host.report({{"event", "eval"},
                 {"step", step},
                 {"eval_loss", (*ran)->loss},
                 {"eval_tokens", (*ran)->tokens},
                 {"eval_seconds", (*ran)->seconds}});
  return {};
}

Status Rank::reportSaved(Result<bool> saved) const {
  if (!saved)
    return std::move(saved.error());
  if (*saved && options.rank == 0)
    host.report({{"event", "saved"}, {"step", done}});
  return {};
}

Status Rank::finishStep(RankContext &context, uint64_t step, double seconds) {
  Result<StepOutputs> read = readOutputs(context);
  if (!read)
    return std::move(read.error());
  const StepOutputs &outputs = *read;
  if (options.rank == 0) {
    double tokens =
        std::isnan(outputs.tokens) ? static_cast<double>(program->globalBatch() * program->sequence()) : outputs.tokens;
    nlohmann::json event{{"event", "step"},
                         {"step", step},
                         {"loss", outputs.loss},
                         {"grad_norm", outputs.gradientNorm},
                         {"lr", outputs.learningRate},
                         {"tokens", static_cast<uint64_t>(tokens)},
                         {"seconds", seconds}};
    reportLossScale(event, outputs);
    host.report(event);
  }
  if (Status scaled = checkLossScale(outputs, step); !scaled)
    return scaled;
  if (options.checkFinite)
    if (Status finite = FiniteCheck(context).state(fmt::format("after step {}", step)); !finite)
      return finite;
  if (std::count(options.dumpSteps.begin(), options.dumpSteps.end(), step))
    return dumpState(context, options.dump, step);
  return {};
}

static int exitStatus(const Error &error) {
  switch (error.kind) {
  case ErrorKind::Invalid:
    return 1;
  case ErrorKind::Lacking:
    return 4;
  default:
    return 3;
  }
}

static int complain(const Error &error, int status) {
  fmt::print(stderr, "error: {}\n", error.message);
  return status;
}

int runRank(const RankImage &image, const RunOptions &options, RankHost &host) {
  OutOfMemory refused(host);
  Status ran = Rank(options, host).run(image);
  if (ran)
    return 0;
  if (ran.error().kind != ErrorKind::Aborted)
    host.fail(ran.error());
  return exitStatus(ran.error());
}

// Whoever starts an executable for GPUs by hand, where it cannot run at all, learns that first.
static Status checkGpusOf(const RankImage &image) {
  std::vector<uint8_t> copy;
  program::Opened opened = program::open(alignedProgram(image, copy));
  return opened.program ? checkGpus(*opened.program) : Status();
}

int runRank(const RankImage &image) {
  Result<RunOptions> options = RunOptions::fromEnvironment();
  if (!options) {
    if (Status gpus = checkGpusOf(image); !gpus)
      return complain(gpus.error(), exitStatus(gpus.error()));
    return complain(options.error(), 2);
  }
  Result<std::unique_ptr<ShmHost>> host = ShmHost::join(*options);
  if (!host)
    return complain(host.error(), exitStatus(host.error()));
  return runRank(image, *options, **host);
}

} // namespace hocket::runtime
