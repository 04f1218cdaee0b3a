// Ranks of the conformance suite over one shared region.
#include "Conformance/ShmStart.h"
#include <cstdlib>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace hocket::runtime;
namespace hocket::test {
namespace {

std::string readAll(int file) {
  std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), '\0');
  if (pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    text = "cannot read the rank's output";
  close(file);
  return text;
}

class ShmBackend : public Backend {
public:
  std::string name() const override { return "shm"; }
  std::vector<Outcome> run(const std::string &scenario,
                           const std::function<void(const std::vector<int> &)> &meanwhile) override {
    return runOverShm(scenario, meanwhile);
  }
  Result<std::unique_ptr<World>> join(int rank) override {
    Result<std::unique_ptr<shm::ShmWorld>> world = joinShm(rank);
    if (!world)
      return std::move(world.error());
    return std::unique_ptr<World>(std::move(*world));
  }
};

} // namespace

std::vector<Outcome> runOverShm(const std::string &name,
                                const std::function<void(const std::vector<int> &)> &meanwhile) {
  const Scenario &scenario = scenarios().at(name);
  std::vector<size_t> arenas(scenario.worldSize, scenario.arenaBytes);
  auto region = shm::Region::create({scenario.worldSize, scenario.groups, arenas});
  if (!region)
    return {{-1, region.error().message}};
  setenv(shm::descriptorVariable, std::to_string(region->descriptor()).c_str(), 1);
  return startRanks(name, {}, meanwhile);
}

std::vector<Outcome> startRanks(const std::string &name, const std::function<void(int)> &prepare,
                                const std::function<void(const std::vector<int> &)> &meanwhile) {
  const Scenario &scenario = scenarios().at(name);
  setenv("HOCKET_TEST_SCENARIO", name.c_str(), 1);
  setenv("HOCKET_TEST_LAUNCHER", std::to_string(getpid()).c_str(), 1);
  std::vector<int> pids, outputs;
  for (int rank = 0; rank < scenario.worldSize; ++rank) {
    setenv("HOCKET_TEST_RANK", std::to_string(rank).c_str(), 1);
    if (prepare)
      prepare(rank);
    outputs.push_back(memfd_create("output", MFD_CLOEXEC));
    pids.push_back(fork());
    if (pids.back() == 0) {
      dup2(outputs.back(), STDOUT_FILENO);
      dup2(outputs.back(), STDERR_FILENO);
      execl("/proc/self/exe", "rank", static_cast<char *>(nullptr));
      _exit(127);
    }
  }
  unsetenv("HOCKET_TEST_SCENARIO");
  if (meanwhile)
    meanwhile(pids);
  std::vector<Outcome> outcomes;
  for (int rank = 0; rank < scenario.worldSize; ++rank) {
    int status = 0;
    waitpid(pids[rank], &status, 0);
    outcomes.push_back({WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), readAll(outputs[rank])});
  }
  return outcomes;
}

Result<std::unique_ptr<shm::ShmWorld>> joinShm(int rank) {
  if (Status bound = shm::dieWithParent(std::atoi(std::getenv("HOCKET_TEST_LAUNCHER"))); !bound)
    return std::move(bound.error());
  Result<shm::Region> region = shm::Region::attach();
  if (!region)
    return std::move(region.error());
  return std::make_unique<shm::ShmWorld>(std::move(*region), rank);
}

Backend &shmBackend() {
  static ShmBackend backend;
  return backend;
}

} // namespace hocket::test
