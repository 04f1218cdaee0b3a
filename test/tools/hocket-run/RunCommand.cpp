// Processes and files for the tests of hocket-run.
#include "RunCommand.h"
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hocket::test {

bool soon(const std::function<bool()> &condition, double seconds) {
  auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

void LauncherTest::SetUp() {
  const auto *info = testing::UnitTest::GetInstance()->current_test_info();
  folder = testing::TempDir() + "hocket-run-" + info->name() + "-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  sample = folder + "/sample";
  std::filesystem::copy_file(HOCKET_SAMPLE, sample);
  data = folder + "/tokens";
  std::string tokens;
  for (int i = 0; i < 200; ++i)
    tokens += static_cast<char>(i * i % 5);
  write("tokens", tokens);
}

void LauncherTest::TearDown() { std::filesystem::remove_all(folder); }

int LauncherTest::start(const std::vector<std::string> &arguments, const std::string &fault) const {
  return startProgram(HOCKET_RUN_PROGRAM, arguments, fault);
}

int LauncherTest::startProgram(const std::string &program, const std::vector<std::string> &arguments,
                               const std::string &fault) const {
  for (const char *name : {"/out", "/error"}) // a test that waits for output shall not see that of the run before
    std::filesystem::remove(folder + name);
  int pid = ::fork();
  if (pid)
    return pid;
  for (auto [name, descriptor] : {std::pair("/out", STDOUT_FILENO), std::pair("/error", STDERR_FILENO)})
    ::dup2(::open((folder + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), descriptor);
  if (!fault.empty())
    ::setenv("SAMPLE_FAULT", fault.c_str(), 1);
  std::vector<char *> argv{const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(program.c_str(), argv.data());
  ::_exit(127);
}

Outcome LauncherTest::wait(int pid) const {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("error")};
}

Outcome LauncherTest::run(std::vector<std::string> arguments, const std::string &fault) const {
  return wait(start(arguments, fault));
}

Outcome LauncherTest::runSample(std::vector<std::string> arguments, const std::string &fault) const {
  arguments.insert(arguments.begin(), {"-n", "4", sample, "--data", data});
  return run(arguments, fault);
}

// What follows the executable on the command lines of its processes, and their ids.
static std::vector<std::pair<std::string, int>> processesOf(const std::string &executable) {
  std::vector<std::pair<std::string, int>> result;
  for (const auto &entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::string line((std::istreambuf_iterator<char>(file)), {});
    if (line.rfind(executable + '\0', 0) != 0)
      continue;
    line.pop_back();
    std::replace(line.begin(), line.end(), '\0', ' ');
    result.emplace_back(line.substr(executable.size() + 1), std::stoi(entry.path().filename()));
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::string> LauncherTest::rankProcesses() const {
  std::vector<std::string> result;
  for (const auto &[coordinates, pid] : processesOf(sample))
    result.push_back(coordinates);
  return result;
}

int LauncherTest::rankPid(const std::string &coordinates) const {
  for (const auto &[found, pid] : processesOf(sample))
    if (found == coordinates)
      return pid;
  return 0;
}

std::string LauncherTest::read(const std::string &name) const {
  std::ifstream file(folder + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void LauncherTest::write(const std::string &name, const std::string &content) const {
  std::ofstream(folder + "/" + name, std::ios::binary) << content;
}

} // namespace hocket::test
