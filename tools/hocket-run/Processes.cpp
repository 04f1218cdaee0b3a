// fork, exec, wait; contracts in Processes.h.
#include "tools/hocket-run/Processes.h"
#include "runtime/Comm/Shm/Region.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hocket::run {

using runtime::Error;
using runtime::ErrorKind;
using runtime::Status;

bool RankEnd::good() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
int RankEnd::exitStatus() const { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
std::string RankEnd::text() const {
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

static Error lacking(const char *what) {
  return {ErrorKind::Lacking, fmt::format("cannot make {}: {}", what, std::strerror(errno)), {}};
}

static sigset_t handledSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM})
    sigaddset(&set, signal);
  return set;
}

Status Processes::prepare() {
  sigset_t set = handledSignals();
  if (sigprocmask(SIG_BLOCK, &set, nullptr) == 0)
    signalFile = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signalFile < 0)
    return lacking("a descriptor for signals");
  if (::pipe(reportPipe) != 0 || ::pipe(releasePipe) != 0)
    return lacking("pipes");
  // The launcher's own ends do not survive exec: a rank sees the end of the release pipe when the launcher is gone.
  ::fcntl(reportPipe[0], F_SETFD, FD_CLOEXEC);
  ::fcntl(reportPipe[0], F_SETFL, O_NONBLOCK);
  ::fcntl(releasePipe[1], F_SETFD, FD_CLOEXEC);
  controlFile = ::memfd_create("hocket-control", 0);
  if (controlFile < 0 || ::ftruncate(controlFile, sizeof(runtime::RunControl)) != 0)
    return lacking("shared memory");
  runtime::Result<runtime::RunControl *> mapped = runtime::mapRunControl(controlFile);
  if (!mapped)
    return std::move(mapped.error());
  shared = *mapped;
  shared->stopAfter = UINT64_MAX;
  return {};
}

Status Processes::start(const std::string &executable, const std::vector<std::string> &arguments,
                        runtime::RunOptions options, int region) {
  options.launcher = ::getpid();
  options.reports = reportPipe[1];
  options.release = releasePipe[0];
  options.control = controlFile;
  ::setenv(runtime::runVariable, options.json().c_str(), 1);
  ::setenv(runtime::shm::descriptorVariable, std::to_string(region).c_str(), 1);
  ::setenv("OMP_NUM_THREADS", "1", 1); // oneDNN is called from our own threads
  std::vector<char *> argv{const_cast<char *>(executable.c_str())};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  int pid = ::fork();
  if (pid < 0)
    return lacking("a process");
  if (pid == 0) {
    sigset_t set = handledSignals();
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    ::execv(executable.c_str(), argv.data());
    fmt::print(stderr, "error: cannot start '{}': {}\n", executable, std::strerror(errno));
    ::_exit(1);
  }
  running.push_back(pid);
  return {};
}

std::vector<RankEnd> Processes::reap() {
  std::vector<RankEnd> result;
  for (size_t rank = 0; rank < running.size(); ++rank) {
    int status;
    if (running[rank] && ::waitpid(running[rank], &status, WNOHANG) == running[rank]) {
      running[rank] = 0;
      result.push_back({static_cast<int>(rank), status});
    }
  }
  return result;
}

size_t Processes::alive() const {
  size_t result = 0;
  for (int pid : running)
    result += pid != 0;
  return result;
}

void Processes::release() {
  ::close(releasePipe[1]);
  releasePipe[1] = -1;
}

void Processes::killAll() {
  for (int pid : running)
    if (pid)
      ::kill(pid, SIGKILL);
  for (int &pid : running) {
    if (pid)
      ::waitpid(pid, nullptr, 0);
    pid = 0;
  }
}

Processes::~Processes() { killAll(); }

} // namespace hocket::run
