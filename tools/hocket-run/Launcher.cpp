// Checks, starts, watches, ends.
#include "tools/hocket-run/Launcher.h"
#include "runtime/Comm/Shm/RegionBoard.h"
#include "runtime/Executor/RankDevice.h"
#include "runtime/Executor/Trace.h"
#include "runtime/Executor/Watchdog.h"
#include "runtime/Launch/Checkpoints.h"
#include "runtime/Launch/Checks.h"
#include "runtime/Launch/Counted.h"
#include "runtime/Launch/Machine.h"
#include "runtime/Launch/MemoryLine.h"
#include "runtime/Launch/Progress.h"
#include "runtime/Launch/Rates.h"
#include "runtime/Program/Executable.h"
#include "tools/hocket-run/Processes.h"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <poll.h>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>

namespace hocket::run {

using runtime::Error;
using runtime::ErrorKind;
using runtime::Result;
using runtime::Status;
using Clock = std::chrono::steady_clock;

namespace {
class Run {
public:
  Run(const Options &options, const program::Program &program)
      : options(options), program(program), mesh(program), groups(runtime::groupsOf(mesh, program)) {}
  Status check();
  Status start();
  Exit watch();

private:
  runtime::shm::RegionSpec regionSpec() const;
  uint64_t ownBytes() const;
  void readReports();
  void addMeasured(std::vector<nlohmann::json> &events);
  void handleSignals();
  void stopEarly(int signal);
  std::vector<int> unfinished() const;
  Exit stopped() const;
  std::optional<Exit> handleEnds();
  Exit fail(const runtime::Watchdog::Verdict &verdict, Exit status);
  void letOthersWait(int failed);
  void sampleMemory(bool now);
  Exit finish();

  const Options &options;
  const program::Program &program;
  program::Mesh mesh;
  runtime::GroupTable groups;
  std::vector<std::string> resume; // checkpoints to go on from
  std::optional<checkpoint::FolderLock> saving;
  Processes processes;
  std::optional<runtime::shm::Region> region;
  std::optional<runtime::shm::RegionBoard> board;
  std::optional<runtime::Watchdog> watchdog;
  Progress progress;
  std::string partialReport; // an event that has not arrived as a whole
  const program::StepCounts counts = program::countStep(mesh, program);
  uint64_t doneRanks = 0, memorySteps = 0;
  uint64_t peakBytes = 0, peakRankBytes = 0; // of all ranks together, of the largest
  uint64_t waited = 0;                       // nanoseconds, of all ranks, when the last step was reported
  Clock::time_point memorySampled;
  int stopSignal = 0;
  bool stopAtOnce = false; // by a second signal
  Clock::time_point stopDeadline;
};
} // namespace

static Exit complain(const Error &error, Exit status) {
  fmt::print(stderr, "error: {}\n", error.message);
  return status;
}

runtime::shm::RegionSpec Run::regionSpec() const {
  runtime::shm::RegionSpec spec;
  bool onDevices = runtime::isForGpus(program);
  spec.worldSize = static_cast<int>(mesh.worldSize());
  spec.groups = groups.groups;
  for (uint32_t rank = 0; rank < mesh.worldSize(); ++rank)
    spec.arenaBytes.push_back(onDevices ? 0
                                        : program.ranks()->Get(program::stageOf(mesh, program, rank))->arenaBytes());
  return spec;
}

// What the ranks take beside the region.
uint64_t Run::ownBytes() const {
  std::vector<int> ranks(mesh.worldSize());
  std::iota(ranks.begin(), ranks.end(), 0);
  uint64_t sum = hostBytesOf(options, program, ranks);
  for (size_t arena : regionSpec().arenaBytes)
    sum -= arena;
  return sum;
}

// Everything that can be at fault before a process starts.
Status Run::check() {
  Status ranks;
  if (options.ranks != mesh.worldSize())
    ranks = Error{ErrorKind::Invalid,
                  fmt::format("'{}' is compiled for {} ({}), started with -n {}", options.executable,
                              counted(mesh.worldSize(), "rank"), mesh.sizesText(), options.ranks),
                  {}};
  Status starts;
  if (::access(options.executable.c_str(), X_OK) != 0)
    starts =
        Error{ErrorKind::Invalid, fmt::format("cannot start '{}': {}", options.executable, std::strerror(errno)), {}};
  if (Status sound = allOf({std::move(starts), std::move(ranks), checkInput(options, program), checkOutput(options)});
      !sound)
    return sound;
  if (Status fits = checkMemory(mesh.worldSize(), runtime::shm::Region::sizeBytes(regionSpec()) + ownBytes()); !fits)
    return fits;
  Result<std::vector<std::string>> from = chooseResume(options, program);
  if (!from)
    return std::move(from.error());
  resume = std::move(*from);
  Result<std::optional<checkpoint::FolderLock>> prepared = prepareSaving(options, program, resume);
  if (!prepared)
    return std::move(prepared.error());
  if (*prepared)
    saving.emplace(std::move(**prepared));
  return {};
}

Status Run::start() {
  if (Status opened = progress.open(options.metrics, options.steps, !resume.empty()); !opened)
    return opened;
  Result<runtime::shm::Region> made = runtime::shm::Region::create(regionSpec());
  if (!made)
    return std::move(made.error());
  region = std::move(*made);
  board.emplace(*region);
  watchdog.emplace(program, *board, options.timeoutSeconds);
  if (Status prepared = processes.prepare(); !prepared)
    return prepared;
  runtime::RunOptions rank = rankOptions(options, program);
  rank.resume = resume;
  std::error_code unknown;
  rank.toolFolder = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  for (rank.rank = 0; rank.rank < rank.world; ++rank.rank) {
    rank.trace = tracePart(options, rank.rank);
    rank.calls = callsPart(options, rank.rank);
    rank.localRank = rank.rank;
    std::vector<std::string> arguments;
    std::vector<uint32_t> at = mesh.coordinates(static_cast<uint32_t>(rank.rank));
    for (size_t axis = 0; axis < at.size(); ++axis)
      arguments.push_back(fmt::format("{}={}", mesh.axes()[axis].name, at[axis]));
    if (Status started = processes.start(options.executable, arguments, rank, region->descriptor()); !started)
      return started;
  }
  say("{}", dataSummary(options, program));
  std::fflush(stdout);
  return {};
}

Exit Run::watch() {
  int pollMs = static_cast<int>(std::clamp(options.timeoutSeconds * 1000 / 50, 1.0, 100.0));
  for (;;) {
    pollfd files[2] = {{processes.reports(), POLLIN, 0}, {processes.signals(), POLLIN, 0}};
    ::poll(files, 2, pollMs);
    readReports();
    handleSignals();
    if (std::optional<Exit> ended = handleEnds())
      return *ended;
    if (doneRanks == mesh.worldSize())
      return finish();
    if (std::optional<runtime::Watchdog::Verdict> stalled = watchdog->check())
      return fail(*stalled, RankFailed);
    if (stopSignal && (options.save.empty() || stopAtOnce) && Clock::now() > stopDeadline)
      return fail({unfinished(), stopAtOnce ? fmt::format("still ran at the second {}", strsignal(stopSignal))
                                            : fmt::format("did not end within {} s of {}", options.timeoutSeconds,
                                                          strsignal(stopSignal))},
                  stopAtOnce ? stopped() : RankFailed);
    sampleMemory(false);
  }
}

void Run::readReports() {
  char buffer[4096];
  ssize_t count;
  while ((count = ::read(processes.reports(), buffer, sizeof buffer)) > 0)
    partialReport.append(buffer, static_cast<size_t>(count));
  size_t begin = 0;
  std::vector<nlohmann::json> events;
  for (size_t end; (end = partialReport.find('\n', begin)) != std::string::npos; begin = end + 1) {
    nlohmann::json event = nlohmann::json::parse(partialReport.substr(begin, end - begin), nullptr, false);
    if (!event.is_discarded())
      events.push_back(std::move(event));
  }
  partialReport.erase(0, begin);
  addMeasured(events);
  for (const nlohmann::json &event : events)
    doneRanks += !progress.show(event);
}

// What the launcher knows of steps beside rank 0's report. Of steps that arrive together each has waited as long.
void Run::addMeasured(std::vector<nlohmann::json> &events) {
  auto isStep = [](const nlohmann::json &event) { return event.at("event") == "step"; };
  auto steps = std::count_if(events.begin(), events.end(), isStep);
  if (!steps)
    return;
  if (!peakBytes)
    sampleMemory(true);
  uint64_t sum = 0; // nanoseconds
  for (int rank = 0; rank < region->worldSize(); ++rank)
    sum += region->status(rank).waited.load(std::memory_order_relaxed);
  double seconds = 1e-9 * static_cast<double>(sum - waited) / static_cast<double>(region->worldSize() * steps);
  waited = sum;
  for (nlohmann::json &event : events)
    if (isStep(event)) {
      addRates(event, counts);
      event["wait_seconds"] = seconds;
      event["memory_bytes"] = peakBytes;
      event["memory_bytes_max"] = peakRankBytes;
    }
}

void Run::handleSignals() {
  signalfd_siginfo info;
  while (::read(processes.signals(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo != SIGCHLD)
      stopEarly(static_cast<int>(info.ssi_signo));
}

// The first signal lets all ranks finish the step they are in; a second one ends them at once.
void Run::stopEarly(int signal) {
  if (stopSignal) {
    stopAtOnce = true;
    stopDeadline = Clock::now();
    return;
  }
  stopSignal = signal;
  stopDeadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.timeoutSeconds));
  auto furthest = [&] {
    uint64_t pass = 0;
    for (int rank = 0; rank < region->worldSize(); ++rank)
      pass = std::max(pass, region->status(rank).pass.load());
    return pass;
  };
  runtime::RunControl &control = processes.control(); // the protocol is in RunOptions.h
  uint64_t last = furthest();
  control.stopAfter = last;
  control.stopAfter = std::max(last, furthest());
  control.stopDecided = 1;
}

// Ranks that have neither ended nor done their last step.
std::vector<int> Run::unfinished() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < region->worldSize(); ++rank)
    if (region->status(rank).state != runtime::RankState::Done)
      ranks.push_back(rank);
  return ranks;
}

// As a shell names the end by that signal: a script tells a run that was stopped from one that is done.
Exit Run::stopped() const { return static_cast<Exit>(128 + stopSignal); }

// A rank that ends before all are done has failed.
std::optional<Exit> Run::handleEnds() {
  std::vector<RankEnd> ends = processes.reap();
  if (ends.empty())
    return {};
  RankEnd end = ends.front();
  std::string reason = end.text();
  letOthersWait(end.rank);
  // A rank that fails says so and ends the others' waits; they may be reaped before it.
  if (std::optional<runtime::shm::AbortReport> aborted = region->aborted(); aborted && aborted->rank >= 0) {
    for (const RankEnd &other : processes.reap())
      ends.push_back(other);
    for (const RankEnd &other : ends)
      if (other.rank == aborted->rank)
        end = other;
    reason = fmt::format("failed: {}", aborted->message);
    return fail({{aborted->rank}, reason}, end.exitStatus() == 1   ? InputFault
                                           : end.exitStatus() == 4 ? MachineLacks
                                                                   : RankFailed);
  }
  return fail({{end.rank}, reason}, end.exitStatus() == 1   ? InputFault
                                    : end.exitStatus() == 4 ? MachineLacks
                                                            : RankFailed);
}

// The report shall name the ranks that wait for the one that failed: gives them a moment to come to where they wait.
void Run::letOthersWait(int failed) {
  auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(std::min(1.0, options.timeoutSeconds / 4)));
  auto waits = [&](int rank) {
    return rank == failed || !watchdog->waitsFor(rank).empty() ||
           region->status(rank).state == runtime::RankState::Done;
  };
  while (Clock::now() < until && !region->aborted()) {
    bool all = true;
    for (int rank = 0; rank < region->worldSize(); ++rank)
      all &= waits(rank);
    if (all)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (region->aborted())
    std::this_thread::sleep_for(std::chrono::milliseconds(50)); // so that the rank at fault has ended
}

Exit Run::fail(const runtime::Watchdog::Verdict &verdict, Exit status) {
  std::string report = watchdog->report(verdict);
  region->abort(-1, "the launcher ends the run");
  processes.killAll();
  progress.finish();
  fmt::print(stderr, "error: {}", report);
  if (saving) {
    readReports();
    if (Status cleaned = checkpoint::cleanPartial(options.save); !cleaned)
      fmt::print(stderr, "note: {}\n", cleaned.error().message);
    if (progress.savedStep())
      fmt::print(stderr, "note: the last checkpoint is '{}'\n",
                 checkpoint::stepFolder(options.save, *progress.savedStep()));
  }
  if (!options.trace.empty())
    for (int rank = 0; rank < region->worldSize(); ++rank)
      std::remove(tracePart(options, rank).c_str());
  return status;
}

// Reading a process's memory map takes a while: after the first steps and then now and then.
void Run::sampleMemory(bool now) {
  bool due =
      progress.lastStep() > memorySteps && (memorySteps < 2 || Clock::now() - memorySampled > std::chrono::seconds(5));
  if (!due && !now)
    return;
  uint64_t sum = 0;
  for (int pid : processes.pids())
    if (uint64_t bytes = pid ? proportionalBytes(pid) : 0) {
      sum += bytes;
      peakRankBytes = std::max(peakRankBytes, bytes);
    }
  peakBytes = std::max(peakBytes, sum);
  memorySteps = progress.lastStep();
  memorySampled = Clock::now();
}

Exit Run::finish() {
  readReports();
  sampleMemory(true);
  processes.release();
  while (processes.alive()) {
    processes.reap();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  progress.finish();
  bool early = stopSignal && !progress.complete(!options.evalData.empty());
  if (early)
    say("ended by {} after step {}\n", strsignal(stopSignal), progress.lastStep());
  if (progress.savedStep())
    say("saved '{}'\n", checkpoint::stepFolder(options.save, *progress.savedStep()));
  say("{}", memoryLine(options, program, runtime::shm::Region::controlBytes(regionSpec()), peakBytes));
  if (Status kept = progress.written(); !kept)
    return complain(kept.error(), MachineLacks);
  Exit ended = early ? stopped() : Done;
  if (options.trace.empty())
    return ended;
  std::vector<std::string> parts;
  for (uint32_t rank = 0; rank < mesh.worldSize(); ++rank)
    parts.push_back(tracePart(options, static_cast<int>(rank)));
  if (Status merged = runtime::Trace::merge(options.trace, parts); !merged)
    return complain(merged.error(), exitOf(merged.error()));
  return ended;
}

Exit launch(const Options &options) {
  Result<program::ExecutableProgram> executable = program::readExecutable(options.executable);
  if (!executable)
    return complain(executable.error(), InputFault);
  Run run(options, *executable->program);
  if (Status checked = run.check(); !checked)
    return complain(checked.error(), exitOf(checked.error()));
  if (Status started = run.start(); !started)
    return complain(started.error(), exitOf(started.error()));
  return run.watch();
}

} // namespace hocket::run
