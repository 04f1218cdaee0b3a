// See CrewMonitor.h. Words between ranks: "stop SIGNAL", "halt SIGNAL", "at PASS", "failed STATUS" to rank 0; "hold
// SIGNAL", "last PASS", "end" from it.
#include "runtime/Launch/CrewMonitor.h"
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace hocket::run {

using runtime::Error;
using runtime::Watchdog;

static sigset_t watchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2})
    sigaddset(&set, signal);
  return set;
}

void blockSignals() {
  sigset_t set = watchedSignals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

static std::chrono::duration<double> inSeconds(double seconds) { return std::chrono::duration<double>(seconds); }

CrewMonitor::CrewMonitor(const program::Program &program, runtime::HostsWorld &world, const Crew &crew,
                         const Options &options)
    : world(world), options(options), watchdog(program, world.statuses(), options.timeoutSeconds), parent(::getppid()) {
  if (!crew.onOneHost())
    watchdog.setHosts(crew.hosts());
  const std::string &host = crew.hosts()[static_cast<size_t>(world.rank())];
  leadsHost = std::find(crew.hosts().begin(), crew.hosts().end(), host) - crew.hosts().begin() == world.rank();
  sigset_t set = watchedSignals();
  signalFile = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  world.listen([this](int rank) { heardOfLoss(rank); },
               [this](int from, std::string_view word) { heardWord(from, word); });
  thread = std::thread([this] { run(); });
}

CrewMonitor::~CrewMonitor() {
  release();
  world.listen({}, {});
  ::close(signalFile);
}

void CrewMonitor::release() {
  {
    std::lock_guard lock(mutex);
    released = true;
  }
  if (thread.joinable())
    thread.join();
}

void CrewMonitor::setNote(std::string text) {
  std::lock_guard lock(mutex);
  note = std::move(text);
}

// ---- stopping -------------------------------------------------------------------------------------------------------
bool CrewMonitor::mayBegin(uint64_t pass) {
  announced().store(pass);
  if (!holding.load())
    return true;
  while (!decided.load() && !world.aborted())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return pass <= stopAfter.load();
}

void CrewMonitor::takeSignals() {
  signalfd_siginfo info;
  while (::read(signalFile, &info, sizeof info) == sizeof info) {
    int signal = static_cast<int>(info.ssi_signo);
    // What hocket-run sends through mpirun stands for what it got itself.
    signal = signal == SIGUSR1 ? SIGTERM : signal == SIGUSR2 ? SIGINT : signal;
    bool again = stopping.exchange(true);
    if (world.rank() != 0)
      world.line().tell(fmt::format("{} {}", again ? "halt" : "stop", signal));
    else
      heardWord(0, fmt::format("{} {}", again ? "halt" : "stop", signal));
  }
}

// On rank 0; a signal often reaches every rank.
void CrewMonitor::askToStop(int signal) {
  {
    std::lock_guard lock(mutex);
    if (stoppedBy.load())
      return;
    stopDeadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(inSeconds(options.timeoutSeconds));
    stoppedBy = signal;
  }
  world.line().tell(fmt::format("hold {}", signal));
  hold();
}

void CrewMonitor::hold() {
  holding.store(true);
  if (world.rank() != 0)
    world.line().tell(fmt::format("at {}", announced().load()));
  else
    answered(0, announced().load());
}

void CrewMonitor::answered(int from, uint64_t pass) {
  std::lock_guard lock(mutex);
  answers[from] = pass;
  if (answers.size() < static_cast<size_t>(world.size()))
    return;
  uint64_t last = 0;
  for (const auto &[rank, at] : answers)
    last = std::max(last, at);
  world.line().tell(fmt::format("last {}", last));
  stopAfter = last;
  decided = true;
}

// On the line's thread, or the monitor's.
void CrewMonitor::heardWord(int from, std::string_view word) {
  size_t space = word.find(' ');
  std::string_view verb = word.substr(0, space);
  uint64_t number = 0;
  if (space != std::string_view::npos)
    std::from_chars(word.data() + space + 1, word.data() + word.size(), number);
  if (verb == "stop") {
    askToStop(static_cast<int>(number));
  } else if (verb == "halt") {
    askToStop(static_cast<int>(number));
    std::lock_guard lock(mutex);
    stopAtOnce = true;
  } else if (verb == "at") {
    answered(from, number);
  } else if (verb == "hold") {
    stoppedBy = static_cast<int>(number);
    hold();
  } else if (verb == "last") {
    stopAfter = number;
    decided = true;
  } else if (verb == "failed") {
    std::lock_guard lock(mutex);
    failures[from] = static_cast<Exit>(number);
  } else if (verb == "end") {
    std::lock_guard lock(mutex);
    reported = true;
    changed.notify_all();
  }
}

// ---- failures -------------------------------------------------------------------------------------------------------
void CrewMonitor::heardOfLoss(int rank) {
  std::lock_guard lock(mutex);
  lost.push_back(rank);
}

void CrewMonitor::fail(const Error &error, Exit status) {
  world.statuses().own().fail(error.message);
  std::string word = fmt::format("failed {}", static_cast<int>(status));
  if (world.rank() != 0)
    world.line().tell(word);
  else
    heardWord(0, word);
  world.abort(error.message);
}

// Of mpirun; it would wait a quarter of an hour for a connection that is cut, and keep what it was started by.
static void endDaemonThatIsCutOff() {
  int parent = ::getppid();
  std::string name;
  std::ifstream(fmt::format("/proc/{}/comm", parent)) >> name;
  if (name == "orted")
    ::kill(parent, SIGKILL);
}

void CrewMonitor::run() {
  int pollMs = static_cast<int>(std::clamp(options.timeoutSeconds * 1000 / 50, 1.0, 50.0));
  auto over = [this] {
    std::lock_guard lock(mutex);
    return released || ended != Done;
  };
  while (!over()) {
    pollfd file{signalFile, POLLIN, 0};
    ::poll(&file, 1, pollMs);
    if (over())
      return;
    takeSignals();
    std::optional<Failure> failure = world.rank() == 0 ? seenByRank0() : seenByOthers();
    if (!failure && ::getppid() != parent)
      failure = {{{}, "what started this rank is gone"}, RankFailed, leadsHost};
    if (!failure)
      continue;
    if (failure->mine)
      report(*failure);
    if (failure->cutOff)
      endDaemonThatIsCutOff();
    end(failure->status);
  }
}

// Rank 0 looks at all.
std::optional<CrewMonitor::Failure> CrewMonitor::seenByRank0() {
  if (std::optional<runtime::mpi::Ended> aborted = world.ended()) {
    std::lock_guard lock(mutex);
    auto said = failures.find(aborted->rank);
    return Failure{{{aborted->rank}, "failed: " + aborted->why}, said == failures.end() ? RankFailed : said->second};
  }
  if (std::vector<int> gone = lostRanks(); !gone.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50)); // those who went together are named together
    return Failure{{lostRanks(), "is gone: its process has ended"}};
  }
  if (std::optional<Watchdog::Verdict> stalled = watchdog.check()) {
    // Of ranks that fell silent together, behind a cut link, one is over the limit first.
    std::vector<int> silent;
    for (int rank = 1; rank < world.size(); ++rank)
      if (world.statuses().secondsSinceHeard(rank) > 0.5 * options.timeoutSeconds)
        silent.push_back(rank);
    if (std::includes(silent.begin(), silent.end(), stalled->ranks.begin(), stalled->ranks.end()))
      stalled = {silent,
                 fmt::format("not heard of for {:.1f} s", world.statuses().secondsSinceHeard(stalled->ranks[0]))};
    return Failure{*stalled};
  }
  std::lock_guard lock(mutex);
  int signal = stoppedBy.load();
  if (signal && (stopAtOnce || (options.save.empty() && Clock::now() > stopDeadline)))
    return Failure{{{}, fmt::format("did not end within {} s of {}", options.timeoutSeconds, strsignal(signal))}};
  return {};
}

// The others look at rank 0. What it said before it ended comes first.
std::optional<CrewMonitor::Failure> CrewMonitor::seenByOthers() {
  if (world.aborted())
    return Failure{{}, RankFailed, false};
  std::vector<int> gone = lostRanks();
  bool reports = world.rank() == 1 || leadsHost;
  if (std::count(gone.begin(), gone.end(), 0))
    return Failure{{{0}, "is gone: its process has ended"}, RankFailed, reports};
  double silent = world.statuses().secondsSinceHeard(0);
  if (silent <= 0.95 * options.timeoutSeconds)
    return {};
  return Failure{{{0}, fmt::format("not heard of for {:.1f} s", silent)}, RankFailed, reports, true};
}

std::vector<int> CrewMonitor::lostRanks() {
  std::lock_guard lock(mutex);
  return lost;
}

// The report shall name the ranks that wait for those that failed: gives them a moment to come to where they wait.
void CrewMonitor::letOthersWait(const std::vector<int> &failed) {
  auto until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(inSeconds(std::min(0.5, options.timeoutSeconds / 4)));
  auto waits = [&](int rank) {
    return std::count(failed.begin(), failed.end(), rank) || !watchdog.waitsFor(rank).empty();
  };
  while (Clock::now() < until) {
    bool all = true;
    for (int rank = 0; rank < world.size(); ++rank)
      all &= waits(rank);
    if (all)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void CrewMonitor::report(const Failure &failure) {
  if (!failure.verdict.ranks.empty() && world.rank() <= 1)
    letOthersWait(failure.verdict.ranks);
  std::string text = "error: " + watchdog.report(failure.verdict);
  {
    std::lock_guard lock(mutex);
    text += note;
    reported = true;
  }
  std::fflush(stdout);
  for (size_t written = 0; written < text.size();) { // one piece, so that it stays together between other ranks' words
    ssize_t count = ::write(STDERR_FILENO, text.data() + written, text.size() - written);
    if (count <= 0)
      break;
    written += static_cast<size_t>(count);
  }
  if (world.rank() == 0)
    world.line().tell("end");
  world.abort(world.rank(), failure.verdict.reason);
}

// The main thread gets a moment to come to settle(); if it computes or hangs, the process ends here.
void CrewMonitor::end(Exit status) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, std::chrono::seconds(2), [this] { return reported; }); // rank 0's words come first
  ended = status;
  changed.notify_all();
  bool left = changed.wait_for(lock, std::chrono::milliseconds(500), [this] { return released; });
  if (!left)
    ::_exit(status);
}

Exit CrewMonitor::settle(Exit own) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, inSeconds(5), [this] { return ended != Done; });
  Exit status = own == Done || world.rank() == 0 ? (ended == Done ? RankFailed : ended) : own;
  released = true;
  changed.notify_all();
  return status;
}

} // namespace hocket::run
