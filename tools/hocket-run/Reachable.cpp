// See Reachable.h.
#include "tools/hocket-run/Reachable.h"
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hocket::run {

using runtime::Error;
using runtime::ErrorKind;
using runtime::Status;

std::string launchAgent() {
  const char *agent = std::getenv("OMPI_MCA_plm_rsh_agent");
  return agent && *agent ? agent : "ssh -x -o BatchMode=yes -o ConnectTimeout=10";
}

static bool ownAddress(const sockaddr *address) {
  if (address->sa_family != AF_INET)
    return false;
  in_addr_t host = reinterpret_cast<const sockaddr_in *>(address)->sin_addr.s_addr;
  ifaddrs *all = nullptr;
  bool found = false;
  if (::getifaddrs(&all) != 0)
    return false;
  for (ifaddrs *at = all; at; at = at->ifa_next)
    found |= at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
             reinterpret_cast<const sockaddr_in *>(at->ifa_addr)->sin_addr.s_addr == host;
  ::freeifaddrs(all);
  return found;
}

// As mpirun decides it: there it starts ranks by itself.
static bool isThisMachine(const std::string &host) {
  char own[256] = {};
  ::gethostname(own, sizeof own - 1);
  if (host == "localhost" || host == own)
    return true;
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_INET;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0)
    return false;
  bool here = false;
  for (addrinfo *at = found; at; at = at->ai_next)
    here |= ownAddress(at->ai_addr);
  ::freeaddrinfo(found);
  return here;
}

static std::string quoted(const std::string &text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

namespace {
// The question to one host, under way.
struct Question {
  const Host *host = nullptr;
  int pid = 0, answer = -1; // a pipe
  std::string text;
};
} // namespace

static Question ask(const Host &host, const std::string &executable) {
  std::string there =
      fmt::format("if [ ! -x {} ]; then echo hocket:executable; elif ! command -v orted >/dev/null; then "
                  "echo hocket:orted; else echo hocket:ready; fi",
                  quoted(executable));
  std::string command = fmt::format("exec {} {} {}", launchAgent(), quoted(host.name), quoted(there));
  Question question;
  question.host = &host;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return question;
  question.pid = ::fork();
  if (question.pid == 0) {
    ::setpgid(0, 0);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char *>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  question.answer = ends[0];
  return question;
}

// Reads until the end or the deadline; what is wrong, or nothing.
static std::string judge(Question &question, const std::string &where, const std::string &executable,
                         std::chrono::steady_clock::time_point deadline) {
  bool late = false;
  char buffer[4096];
  for (;;) {
    auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    pollfd file{question.answer, POLLIN, 0};
    if (left <= 0 || ::poll(&file, 1, static_cast<int>(left)) == 0) {
      late = true;
      break;
    }
    ssize_t count = ::read(question.answer, buffer, sizeof buffer);
    if (count <= 0)
      break;
    question.text.append(buffer, static_cast<size_t>(count));
  }
  ::close(question.answer);
  ::kill(-question.pid, SIGKILL);
  int status = 0;
  ::waitpid(question.pid, &status, 0);
  if (question.text.find("hocket:ready") != std::string::npos)
    return "";
  std::string host = fmt::format("{}:{}: host '{}'", where, question.host->line, question.host->name);
  if (question.text.find("hocket:executable") != std::string::npos)
    return fmt::format("{} has no executable '{}'; it must lie there under the same path", host, executable);
  if (question.text.find("hocket:orted") != std::string::npos)
    return fmt::format("{} has no orted on its PATH; on Debian it is in the package openmpi-bin", host);
  std::string said = question.text.substr(0, question.text.find('\n'));
  std::string agent = launchAgent();
  agent.resize(std::min(agent.find(' '), agent.size()));
  if (late)
    return fmt::format("{} cannot be reached: {} did not answer in time", host, agent);
  return fmt::format("{} cannot be reached: {} ended with status {}{}{}", host, agent,
                     WIFEXITED(status) ? WEXITSTATUS(status) : -1, said.empty() ? "" : ": ", said);
}

Status checkReachable(const Hostfile &file, const std::string &executable, double seconds) {
  std::vector<Question> questions;
  for (const Host &host : file.hosts())
    if (!isThisMachine(host.name))
      questions.push_back(ask(host, executable));
  auto deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                         std::chrono::duration<double>(seconds));
  std::vector<std::string> faults;
  for (Question &question : questions)
    if (std::string fault = judge(question, file.path, executable, deadline); !fault.empty())
      faults.push_back(std::move(fault));
  if (faults.empty())
    return {};
  return Error{ErrorKind::Lacking, fmt::format("{}", fmt::join(faults, "\nerror: ")), {}};
}

} // namespace hocket::run
