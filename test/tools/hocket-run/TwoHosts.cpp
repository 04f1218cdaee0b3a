// See TwoHosts.h.
#include "TwoHosts.h"
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace hocket::test {

int shell(const std::string &command) {
  int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// mpirun calls it as it calls ssh: HOST COMMAND.
static constexpr char agentText[] = R"(#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
)";

void TwoHosts::SetUp() {
  LauncherTest::SetUp();
  for (int i : {0, 1})
    names[i] = fmt::format("hocket{}{}", ::getpid(), "ab"[i]);
  std::string down, up = "set -e; exec 2>/dev/null; unshare --uts true";
  for (const std::string &name : names) {
    down += fmt::format("ip netns pids {0} | xargs -r kill -9; sleep 0.2; ip netns del {0}; ", name);
    up += fmt::format("; ip netns add {}", name);
  }
  up += fmt::format("; ip link add link0 netns {} type veth peer name link0 netns {}", names[0], names[1]);
  for (int i : {0, 1})
    up += fmt::format(
        "; ip -n {0} addr add 10.99.0.{1}/24 dev link0; ip -n {0} link set lo up; ip -n {0} link set link0 up",
        names[i], i + 1);
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  guard = ends[1];
  guardPid = ::fork();
  if (guardPid == 0) {
    ::setsid();
    ::dup2(ends[0], STDIN_FILENO);
    ::execl("/bin/sh", "sh", "-c", ("read none; exec 2>/dev/null; " + down + "true").c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[0]);
  if (shell(up) != 0)
    GTEST_SKIP() << "cannot make network namespaces here; needs root and iproute2";
  write("agent", agentText);
  std::filesystem::permissions(folder + "/agent", std::filesystem::perms::owner_all);
  hosts = folder + "/hosts";
  write("hosts", fmt::format("{} slots=2\n{} slots=2\n", names[0], names[1]));
  ::setenv("OMPI_MCA_plm_rsh_agent", (folder + "/agent").c_str(), 1);
}

void TwoHosts::TearDown() {
  ::unsetenv("OMPI_MCA_plm_rsh_agent");
  ::close(guard);
  int status;
  ::waitpid(guardPid, &status, 0);
  LauncherTest::TearDown();
}

int TwoHosts::startOnHosts(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"netns", "exec", names[0], HOCKET_RUN_PROGRAM, "--hosts", hosts, "-n", "4",
                                       sample, "--data", data});
  return startProgram("ip", arguments, "");
}

Outcome TwoHosts::runOnHosts(std::vector<std::string> arguments) { return wait(startOnHosts(std::move(arguments))); }

void TwoHosts::cutLink() { ASSERT_EQ(shell(fmt::format("ip -n {} link set link0 down", names[1])), 0); }

static std::vector<int> pidsIn(const std::string &name, const std::string &file) {
  shell(fmt::format("ip netns pids {} >{} 2>/dev/null", name, file));
  std::ifstream in(file);
  std::vector<int> result;
  for (int pid; in >> pid;)
    result.push_back(pid);
  return result;
}

std::vector<int> TwoHosts::processes() const {
  std::vector<int> result = pidsIn(names[0], folder + "/pids");
  for (int pid : pidsIn(names[1], folder + "/pids"))
    result.push_back(pid);
  return result;
}

std::vector<int> TwoHosts::processesOnHost(int host) const {
  std::vector<int> result;
  for (int pid : pidsIn(names[host], folder + "/pids"))
    if (std::error_code error; std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), error) == sample)
      result.push_back(pid);
  return result;
}

} // namespace hocket::test
