// The life of one rank; contracts in Rank.h.
#include "runtime/Executor/Rank.h"
#include "runtime/Comm/Shm/ShmWorld.h"
#include "runtime/Device/Cpu/CpuDevice.h"
#include "runtime/Executor/CpuFeatures.h"
#include "runtime/Executor/InitialValues.h"
#include "runtime/Executor/StateDump.h"
#include "runtime/Executor/StepRunner.h"
#include "runtime/Program/ProgramFile.h"
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace hocket::runtime {

namespace {
class Rank {
public:
  Rank(const RunOptions &options, shm::ShmWorld &world) : options(options), world(world) {}
  Status run(const RankImage &image);

private:
  Status openProgram(const RankImage &image);
  Status prepare(RankContext &context);
  Status train(RankContext &context, const BatchReader &data);
  bool mayBegin(uint64_t step);
  Status finishStep(RankContext &context, uint64_t step, double seconds);
  Status checkState(const RankContext &context, uint64_t step) const;
  void report(const nlohmann::json &event) const;
  void waitForRelease() const;

  const RunOptions &options;
  shm::ShmWorld &world;
  std::vector<uint8_t> copy;
  const program::Program *program = nullptr;
  Trace trace;
  RunControl *control = nullptr;
};
} // namespace

Status Rank::openProgram(const RankImage &image) {
  std::span<const uint8_t> bytes = image.program;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % program::fileAlignment) {
    copy.resize(bytes.size() + program::fileAlignment);
    uint8_t *aligned =
        copy.data() + (program::fileAlignment - reinterpret_cast<uintptr_t>(copy.data()) % program::fileAlignment);
    std::memcpy(aligned, bytes.data(), bytes.size());
    bytes = {aligned, bytes.size()};
  }
  program::Opened opened = program::open(bytes);
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
    return Error{
        ErrorKind::Invalid,
        fmt::format("compiled for {} ranks ({}), started with {}", mesh.worldSize(), mesh.sizesText(), world.size()),
        {}};
  CpuDevice device(static_cast<int>(program->threads()));
  RankContext context(*program, static_cast<uint32_t>(world.rank()), world.arena().data(), world, world.status(),
                      device);
  if (world.arena().size() < context.own.arenaBytes())
    return Error{
        ErrorKind::Invalid,
        fmt::format("the launcher gave {} bytes, the program needs {}", world.arena().size(), context.own.arenaBytes()),
        {}};
  // The launcher's watchdog is the judge of who stalls; a rank's own limit only ends a run whose watchdog is gone.
  context.waitSeconds = std::max(600.0, 10 * options.timeoutSeconds);
  context.checkFinite = options.checkFinite;
  context.trace = options.trace.empty() ? nullptr : &trace;
  if (Status found = context.findKernels(image.kernels); !found)
    return found;
  if (Status connected = context.connect(); !connected)
    return connected;
  if (Status ready = prepare(context); !ready)
    return ready;
  Result<TokenFile> file = TokenFile::open(options.data, options.dataType);
  if (!file)
    return std::move(file.error());
  Result<BatchReader> data = BatchReader::create(std::move(*file), batchShapeOf(*program), options.seed);
  if (!data)
    return std::move(data.error());
  if (Status trained = train(context, *data); !trained)
    return trained;
  world.status().state.store(RankState::Done);
  report({{"event", "done"}, {"rank", options.rank}});
  waitForRelease();
  return {};
}

Status Rank::prepare(RankContext &context) {
  Result<RunControl *> mapped = mapRunControl(options.control);
  if (!mapped)
    return std::move(mapped.error());
  control = *mapped;
  ThreadPool &pool = static_cast<CpuDevice &>(context.device).pool();
  for (uint32_t i = 0; context.own.state() && i < context.own.state()->size(); ++i) {
    const program::State &state = *context.own.state()->Get(i);
    initialise(context.address(*state.buffer(), 0, 0), state, context.mesh, context.rank, options.seed, pool);
    context.status.heartbeat.fetch_add(1, std::memory_order_relaxed);
  }
  if (std::count(options.dumpSteps.begin(), options.dumpSteps.end(), 0))
    return dumpState(context, options.dump, 0);
  return {};
}

Status Rank::train(RankContext &context, const BatchReader &data) {
  const program::Entry *entry = nullptr;
  for (const program::Entry *candidate : *context.own.entries())
    if (candidate->name()->string_view() == program::trainEntry)
      entry = candidate; // `open` saw to it that there is one
  StepRunner runner(context, *entry);
  for (uint64_t step = 1; step <= options.steps && mayBegin(step); ++step) {
    Trace::Time begin = Trace::now();
    context.status.state.store(RankState::Computing);
    if (Status loaded = loadInputs(context, data, step); !loaded)
      return loaded;
    if (Status ran = runner.run(step); !ran)
      return ran;
    if (Status finished = finishStep(context, step, std::chrono::duration<double>(Trace::now() - begin).count());
        !finished)
      return finished;
  }
  if (options.trace.empty())
    return {};
  std::vector<std::string> streams;
  for (const auto *stream : *entry->streams())
    streams.push_back(stream->str());
  return trace.write(options.trace, options.rank, context.mesh.text(context.rank), streams);
}

// See RunControl.
bool Rank::mayBegin(uint64_t step) {
  world.status().step.store(step);
  if (step <= control->stopAfter.load())
    return true;
  while (!control->stopDecided.load())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return step <= control->stopAfter.load();
}

Status Rank::finishStep(RankContext &context, uint64_t step, double seconds) {
  if (options.rank == 0) {
    StepOutputs outputs = readOutputs(context);
    double tokens =
        std::isnan(outputs.tokens) ? static_cast<double>(program->globalBatch() * program->sequence()) : outputs.tokens;
    report({{"event", "step"},
            {"step", step},
            {"loss", outputs.loss},
            {"grad_norm", outputs.gradientNorm},
            {"lr", outputs.learningRate},
            {"tokens", static_cast<uint64_t>(tokens)},
            {"seconds", seconds}});
  }
  if (options.checkFinite)
    if (Status finite = checkState(context, step); !finite)
      return finite;
  if (std::count(options.dumpSteps.begin(), options.dumpSteps.end(), step))
    return dumpState(context, options.dump, step);
  return {};
}

Status Rank::checkState(const RankContext &context, uint64_t step) const {
  StepOutputs outputs = readOutputs(context);
  if (std::isinf(outputs.loss) || (std::isnan(outputs.loss) && context.own.outputs()))
    return Error{ErrorKind::Mismatch, fmt::format("step {}: the loss is {}", step, outputs.loss), {}};
  for (uint32_t i = 0; context.own.state() && i < context.own.state()->size(); ++i) {
    const program::State &state = *context.own.state()->Get(i);
    if (auto at = firstNotFinite(state.type(), context.address(*state.buffer(), 0, 0), state.buffer()->bytes()))
      return Error{ErrorKind::Mismatch,
                   fmt::format("step {}: element {} of this rank's shard of {} '{}' is not finite ({})", step, *at,
                               EnumNameStateKind(state.kind()), state.name()->str(), context.text(state.source())),
                   {}};
  }
  return {};
}

// One line, shorter than a pipe's atomic write.
void Rank::report(const nlohmann::json &event) const {
  std::string line = event.dump() + "\n";
  if (::write(options.reports, line.data(), line.size()) < 0)
    return; // the launcher is gone, and soon this rank
}

// Finished ranks stay until the launcher has looked at their memory.
void Rank::waitForRelease() const {
  char byte;
  while (::read(options.release, &byte, 1) > 0) {
  }
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

int runRank(const RankImage &image) {
  Result<RunOptions> options = RunOptions::fromEnvironment();
  if (!options)
    return complain(options.error(), 2);
  std::signal(SIGINT, SIG_IGN); // a terminal's Ctrl-C is for the launcher, which ends the ranks
  if (Status bound = shm::dieWithParent(options->launcher); !bound)
    return complain(bound.error(), 3);
  Result<shm::Region> region = shm::Region::attach();
  if (!region)
    return complain(region.error(), exitStatus(region.error()));
  if (options->rank < 0 || options->rank >= region->worldSize())
    return complain({ErrorKind::Invalid, fmt::format("rank {} of {}", options->rank, region->worldSize()), {}}, 1);
  shm::ShmWorld world(std::move(*region), options->rank);
  world.status().pid.store(::getpid());
  Status ran = Rank(*options, world).run(image);
  if (ran)
    return 0;
  if (ran.error().kind != ErrorKind::Aborted) {
    world.status().fail(ran.error().message);
    world.abort(ran.error().message);
  }
  return exitStatus(ran.error());
}

} // namespace hocket::runtime
