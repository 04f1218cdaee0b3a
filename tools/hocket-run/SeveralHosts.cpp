// See SeveralHosts.h.
#include "tools/hocket-run/SeveralHosts.h"
#include "runtime/Program/Executable.h"
#include "runtime/Program/Mesh.h"
#include "tools/hocket-run/Hostfile.h"
#include "tools/hocket-run/Reachable.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hocket::run {

using runtime::Error;
using runtime::ErrorKind;
using runtime::Result;
using runtime::Status;
using Clock = std::chrono::steady_clock;

static Exit complain(const Error &error) {
  fmt::print(stderr, "error: {}\n", error.message);
  return exitOf(error);
}

namespace {

// mpirun while it runs. What ranks say goes through at once. Open MPI's own notices (framed by dashes, or with their
// place in its source in brackets) are held back, and shown at the end where no rank has said what was wrong.
class Mpirun {
public:
  explicit Mpirun(const Options &options) : options(options) {}
  Status start(const Hostfile &hosts, const std::vector<std::string> &arguments);
  Exit watch();

private:
  std::vector<std::string> words(const std::vector<std::string> &arguments) const;
  void passSignals();
  bool readWords();
  void take(const std::string &line);
  Exit exitOf(int status);

  const Options &options;
  int pid = 0, speech = -1, signalFile = -1, hostFile = -1, signals = 0;
  std::string partial, held;
  bool framed = false, explained = false;
  std::optional<Clock::time_point> killAt;
};

sigset_t handledSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGCHLD, SIGINT, SIGTERM})
    sigaddset(&set, signal);
  return set;
}

} // namespace

std::vector<std::string> Mpirun::words(const std::vector<std::string> &arguments) const {
  std::vector<std::string> result = {"mpirun", "--quiet"};
  auto set = [&](const char *name, const std::string &value) { result.insert(result.end(), {"--mca", name, value}); };
  // Ranks that must end get the time to say why; a daemon that is cut off is noticed in half a minute.
  set("odls_base_sigkill_timeout", "2");
  set("oob_tcp_keepalive_time", "10");
  set("oob_tcp_keepalive_intvl", "5");
  set("oob_tcp_keepalive_probes", "3");
  if (!std::getenv("OMPI_MCA_plm_rsh_agent"))
    set("plm_rsh_agent", launchAgent());
  // The kernel places threads: a program's threads are no ranks, and the hosts file says how many ranks a host takes.
  for (const char *word : {"--oversubscribe", "--bind-to", "none", "--map-by", "slot", "--hostfile"})
    result.push_back(word);
  result.push_back(fmt::format("/proc/{}/fd/{}", ::getpid(), hostFile));
  result.insert(result.end(), {"-n", std::to_string(options.ranks), std::filesystem::absolute(options.executable)});
  result.insert(result.end(), arguments.begin(), arguments.end());
  return result;
}

Status Mpirun::start(const Hostfile &hosts, const std::vector<std::string> &arguments) {
  auto lacking = [](const char *what) {
    return Error{ErrorKind::Lacking, fmt::format("cannot make {}: {}", what, std::strerror(errno)), {}};
  };
  std::string text; // with every slot written out, so that mpirun and this program count alike
  for (const Host &host : hosts.hosts())
    text += fmt::format("{} slots={}\n", host.name, host.slots);
  hostFile = ::memfd_create("hocket-hosts", MFD_CLOEXEC);
  if (hostFile < 0 || ::write(hostFile, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return lacking("the hosts file of mpirun");
  sigset_t set = handledSignals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signalFile = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  int ends[2];
  if (signalFile < 0 || ::pipe2(ends, O_CLOEXEC) != 0)
    return lacking("a pipe");
  std::vector<std::string> line = words(arguments);
  std::vector<char *> argv;
  for (std::string &word : line)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  int parent = ::getpid();
  pid = ::fork();
  if (pid < 0)
    return lacking("a process");
  if (pid == 0) {
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    ::setpgid(0, 0); // a terminal's Ctrl-C is for the launcher, which passes it on in its own way
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent)
      ::_exit(3);
    for (const char *name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      if (::geteuid() == 0) // it would refuse; who runs hocket-run as root has decided
        ::setenv(name, "1", 1);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  ::close(ends[1]);
  speech = ends[0];
  ::fcntl(speech, F_SETFL, O_NONBLOCK);
  return {};
}

Exit Mpirun::watch() {
  for (;;) {
    pollfd files[2] = {{speech, POLLIN, 0}, {signalFile, POLLIN, 0}};
    ::poll(files, 2, 200);
    passSignals();
    readWords();
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid) {
      readWords();
      return exitOf(status);
    }
    if (killAt && Clock::now() > *killAt) {
      ::kill(-pid, SIGKILL);
      killAt.reset();
    }
  }
}

// A request to stop travels as SIGUSR1 (for SIGTERM) or SIGUSR2 (for SIGINT), which mpirun hands to every rank; at the
// signals themselves it would end them in mid-step.
void Mpirun::passSignals() {
  signalfd_siginfo info;
  while (::read(signalFile, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD)
      continue;
    ::kill(pid, info.ssi_signo == SIGINT ? SIGUSR2 : SIGUSR1);
    if (++signals >= 2 && !killAt)
      killAt = Clock::now() + std::chrono::seconds(10);
  }
}

bool Mpirun::readWords() {
  char buffer[4096];
  ssize_t count;
  while ((count = ::read(speech, buffer, sizeof buffer)) > 0)
    partial.append(buffer, static_cast<size_t>(count));
  size_t begin = 0;
  for (size_t end; (end = partial.find('\n', begin)) != std::string::npos; begin = end + 1)
    take(partial.substr(begin, end + 1 - begin));
  partial.erase(0, begin);
  return count == 0;
}

void Mpirun::take(const std::string &line) {
  bool rule = line.size() > 40 && line.find_first_not_of("-\n") == std::string::npos;
  if (rule || framed || line[0] == '[') {
    framed = rule ? !framed : framed;
    held += line;
    return;
  }
  if (line.rfind("error: ", 0) == 0 && !explained) {
    explained = true;
    // It ends by itself unless it waits for a host that does not answer.
    killAt = Clock::now() + std::chrono::seconds(5);
  }
  fmt::print(stderr, "{}", line);
}

Exit Mpirun::exitOf(int status) {
  if (!partial.empty())
    fmt::print(stderr, "{}\n", partial);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 0 || (signals && code > 128)) // stopped by a signal, which rank 0 says by its status
    return static_cast<Exit>(code);
  if (code == 127)
    return complain({ErrorKind::Lacking, "mpirun is not on the PATH; on Debian it is in the package openmpi-bin", {}});
  if (explained || code == CommandLine)
    return code == InputFault || code == CommandLine || code == MachineLacks ? static_cast<Exit>(code) : RankFailed;
  fmt::print(stderr, "{}", held);
  return complain({ErrorKind::Timeout, fmt::format("mpirun ended with status {} and no rank said why", code), {}});
}

Exit launchOnHosts(const Options &options, const std::string &path, const std::vector<std::string> &arguments) {
  Result<program::ExecutableProgram> executable = program::readExecutable(options.executable);
  if (!executable)
    return complain(executable.error());
  program::Mesh mesh(*executable->program);
  if (options.ranks != mesh.worldSize())
    return complain({ErrorKind::Invalid,
                     fmt::format("'{}' is compiled for {} ranks ({}), started with -n {}", options.executable,
                                 mesh.worldSize(), mesh.sizesText(), options.ranks),
                     {}});
  Result<Hostfile> hosts = Hostfile::read(path, options.ranks);
  if (!hosts)
    return complain(hosts.error());
  if (Status reached = checkReachable(*hosts, std::filesystem::absolute(options.executable), 20); !reached)
    return complain(reached.error());
  Mpirun mpirun(options);
  if (Status started = mpirun.start(*hosts, arguments); !started)
    return complain(started.error());
  return mpirun.watch();
}

} // namespace hocket::run
