// Ranks of the conformance suite under mpirun, over TCP on the loopback interface: the way they talk between hosts.
//
// mpirun starts this program as a supervisor of each rank, which starts the rank and writes down how it ended (mpirun
// itself would end all ranks when one ends badly, and forget which it was).
#include "Conformance/Scenario.h"
#include "runtime/Comm/Mpi/MpiWorld.h"
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace hocket::runtime;
namespace hocket::test {
namespace {

std::string read(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string &path, int value) {
  std::ofstream(path + ".new") << value << "\n";
  std::filesystem::rename(path + ".new", path); // a reader sees all of it or nothing
}

std::string programPath() { return std::filesystem::read_symlink("/proc/self/exe"); }

class MpiBackend : public Backend {
public:
  std::string name() const override { return "mpi"; }

  std::vector<Outcome> run(const std::string &name,
                           const std::function<void(const std::vector<int> &)> &meanwhile) override {
    std::string folder = testing::TempDir() + "hocket-mpi-" + name + "-" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    int size = scenarios().at(name).worldSize;
    int launcher = start(name, folder, size);
    if (meanwhile)
      meanwhile(pidsOfRanks(folder, size));
    int status = 0;
    waitpid(launcher, &status, 0);
    std::vector<Outcome> outcomes;
    for (int rank = 0; rank < size; ++rank) {
      std::string number = std::to_string(rank), ended = read(folder + "/status." + number);
      outcomes.push_back({ended.empty() ? -1 : std::stoi(ended), read(folder + "/out." + number)});
      if (ended.empty())
        outcomes.back().text += "the rank did not end by itself; mpirun said: " + read(folder + "/mpirun");
    }
    std::filesystem::remove_all(folder);
    return outcomes;
  }

  Result<std::unique_ptr<World>> join(int) override {
    Result<std::unique_ptr<mpi::MpiWorld>> world = mpi::MpiWorld::join(patience);
    if (!world)
      return std::move(world.error());
    if (Status got = (*world)->reserve(scenarios().at(std::getenv("HOCKET_TEST_SCENARIO")).arenaBytes); !got)
      return std::move(got.error());
    write(std::getenv("HOCKET_TEST_READY"), 1);
    return std::unique_ptr<World>(std::move(*world));
  }

private:
  static int start(const std::string &scenario, const std::string &folder, int size) {
    int parent = getpid(), pid = fork();
    if (pid)
      return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); // and mpirun's end is that of its ranks
    if (getppid() != parent)
      _exit(127);
    int log = open((folder + "/mpirun").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    for (const char *name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      setenv(name, "1", 1);
    setenv("HOCKET_TEST_SCENARIO", scenario.c_str(), 1);
    setenv("HOCKET_TEST_FOLDER", folder.c_str(), 1);
    std::string ranks = std::to_string(size), program = programPath();
    execl(HOCKET_MPIRUN, HOCKET_MPIRUN, "--oversubscribe", "--bind-to", "none", "--enable-recovery", "--mca", "pml",
          "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", "-n", ranks.c_str(), program.c_str(),
          static_cast<char *>(nullptr));
    _exit(127);
  }

  // Once all have joined.
  static std::vector<int> pidsOfRanks(const std::string &folder, int size) {
    std::vector<int> pids;
    for (int rank = 0; rank < size; ++rank) {
      std::string number = std::to_string(rank);
      for (int i = 0; i < 3000 && read(folder + "/ready." + number).empty(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::string pid = read(folder + "/pid." + number);
      pids.push_back(pid.empty() ? 0 : std::stoi(pid));
    }
    return pids;
  }
};

} // namespace

Backend &mpiBackend() {
  static MpiBackend backend;
  return backend;
}

int superviseRank() {
  std::string folder = std::getenv("HOCKET_TEST_FOLDER"), number = std::getenv("OMPI_COMM_WORLD_RANK");
  int parent = getpid(), pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
      _exit(127);
    // What the rank says goes to a file of its own; what Open MPI says (of connections that broke) is not looked at.
    dup2(open((folder + "/out." + number).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    unsetenv("HOCKET_TEST_FOLDER");
    setenv("HOCKET_TEST_READY", (folder + "/ready." + number).c_str(), 1);
    setenv("HOCKET_TEST_BACKEND", "mpi", 1);
    setenv("HOCKET_TEST_RANK", number.c_str(), 1);
    execl(programPath().c_str(), "rank", static_cast<char *>(nullptr));
    _exit(127);
  }
  write(folder + "/pid." + number, pid);
  int status = 0;
  waitpid(pid, &status, 0);
  write(folder + "/status." + number, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  return 0;
}

} // namespace hocket::test
