// What watches a rank of a run over MPI or TCP from within, in a thread of its own: signals, the end of its launcher,
// the silence or end of other ranks, and the order to stop. On rank 0 it also is the watchdog of the whole run and
// writes the report.
//
// Stopping early: the rank that gets SIGTERM or SIGINT (or for them SIGUSR1 or SIGUSR2, which mpirun hands on) asks
// rank 0. Rank 0 tells all ranks to hold: from then on no rank begins a pass that it has not announced, and each says
// which it announced last. The greatest of these is the last pass of all. A second signal ends the run at once.
//
// A failure: rank 0 hears of it (a rank says so, its line ends, the watchdog finds it), gives the others a moment to
// come to where they wait, writes the report to stderr, and ends all. If rank 0 itself is gone or silent, the first
// rank of every host says so, and rank 1 writes the report. Who does not end by itself is ended by its monitor.
#ifndef HOCKET_RUNTIME_LAUNCH_CREWMONITOR_H
#define HOCKET_RUNTIME_LAUNCH_CREWMONITOR_H

#include "runtime/Comm/HostsWorld.h"
#include "runtime/Executor/Watchdog.h"
#include "runtime/Launch/Crew.h"
#include <map>

namespace hocket::run {

// Blocks the signals that the monitor takes; before any thread is started.
void blockSignals();

class CrewMonitor {
public:
  // Program, world and options outlive it.
  CrewMonitor(const program::Program &program, runtime::HostsWorld &world, const Crew &crew, const Options &options);
  ~CrewMonitor();

  // RankHost::mayBegin.
  bool mayBegin(uint64_t pass);
  // This rank has failed by its own fault.
  void fail(const runtime::Error &error, Exit status);
  // Ends the watch: the run has ended well, for all ranks.
  void release();
  // The run has failed: waits until that is reported, and returns this rank's exit status.
  Exit settle(Exit own);
  // The signal that ended the run early; 0: none.
  int stopSignal() const { return stoppedBy.load(); }
  // A line for the end of a report.
  void setNote(std::string text);

private:
  using Clock = std::chrono::steady_clock;
  void run();
  void takeSignals();
  void heardOfLoss(int rank);
  void heardWord(int from, std::string_view word);
  void askToStop(int signal);
  void hold();
  void answered(int from, uint64_t pass);
  struct Failure {
    runtime::Watchdog::Verdict verdict;
    Exit status = RankFailed;
    bool mine = true;    // to report
    bool cutOff = false; // from rank 0, and so most likely from mpirun
  };
  std::optional<Failure> seenByRank0();
  std::optional<Failure> seenByOthers();
  std::vector<int> lostRanks();
  void report(const Failure &failure);
  void letOthersWait(const std::vector<int> &failed);
  void end(Exit status);

  runtime::HostsWorld &world;
  const Options &options;
  runtime::Watchdog watchdog;
  const int parent;
  int signalFile = -1;
  bool leadsHost;
  std::atomic<uint64_t> &announced() { return world.statuses().own().pass; }
  std::atomic<uint64_t> stopAfter{UINT64_MAX};
  std::atomic<bool> holding{false}, decided{false}, stopping{false};
  std::atomic<int> stoppedBy{0};

  std::mutex mutex; // of what follows
  std::condition_variable changed;
  Clock::time_point stopDeadline;
  bool stopAtOnce = false;
  std::vector<int> lost;
  std::map<int, uint64_t> answers; // rank 0: the last pass that each rank has announced
  std::map<int, Exit> failures;    // rank 0: with what a rank that said so will exit
  std::string note;
  bool released = false, reported = false;
  Exit ended = Done;
  std::thread thread;
};

} // namespace hocket::run
#endif
