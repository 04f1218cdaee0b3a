// The rank processes: exec'd with inherited descriptors, reaped, killed. Leaves none behind.
#ifndef HOCKET_TOOLS_HOCKET_RUN_PROCESSES_H
#define HOCKET_TOOLS_HOCKET_RUN_PROCESSES_H

#include "runtime/Executor/RunOptions.h"

namespace hocket::run {

// How a rank ended.
struct RankEnd {
  int rank;
  int status; // of waitpid
  bool good() const;
  int exitStatus() const;   // -1: by a signal
  std::string text() const; // "was killed by signal 9 (Killed)", "ended with status 3"
};

class Processes {
public:
  Processes() = default;
  Processes(const Processes &) = delete;
  // Kills and reaps whatever still runs.
  ~Processes();

  // Blocks SIGCHLD, SIGINT and SIGTERM in this process; they arrive through signals(). Makes the pipes and the control
  // memory. Fails (Lacking) where the system refuses.
  runtime::Status prepare();
  // Starts one rank. `arguments`: of its command line after the executable.
  runtime::Status start(const std::string &executable, const std::vector<std::string> &arguments,
                        runtime::RunOptions options, int region);

  int signals() const { return signalFile; }
  int reports() const { return reportPipe[0]; }
  runtime::RunControl &control() { return *shared; }
  const std::vector<int> &pids() const { return running; }

  std::vector<RankEnd> reap(); // those that have ended since
  size_t alive() const;
  void release(); // lets finished ranks exit
  void killAll(); // and waits until they are gone

private:
  std::vector<int> running; // by rank; 0 once reaped
  int reportPipe[2] = {-1, -1}, releasePipe[2] = {-1, -1};
  int signalFile = -1, controlFile = -1;
  runtime::RunControl *shared = nullptr;
};

} // namespace hocket::run
#endif
