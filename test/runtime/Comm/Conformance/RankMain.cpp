// The program is the tests; when HOCKET_TEST_SCENARIO names a scenario, one rank of it; and when HOCKET_TEST_FOLDER is
// set too, what looks after such a rank under mpirun.
#include "Conformance/NcclRank.h"
#include "Conformance/Scenario.h"
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

using namespace hocket::runtime;
namespace hocket::test {

const std::map<std::string, Scenario> &scenarios() {
  static const std::map<std::string, Scenario> all = [] {
    std::map<std::string, Scenario> made;
    addCollectiveScenarios(made);
    addMessageScenarios(made);
    addFailureScenarios(made);
    addNcclScenarios(made);
    return made;
  }();
  return all;
}

static int runRank(const Scenario &scenario, int number) {
  const char *named = std::getenv("HOCKET_TEST_BACKEND");
  std::string backend = named ? named : "shm";
  Result<std::unique_ptr<World>> world = (backend == "mpi"    ? mpiBackend()
                                          : backend == "nccl" ? ncclBackend()
                                          : backend == "gpu"  ? gpuBackend()
                                          : backend == "tcp"  ? tcpBackend()
                                                              : shmBackend())
                                             .join(number);
  if (!world)
    return fmt::print("{}\n", world.error().message), 2;
  Rank rank{**world, {}, {}, dynamic_cast<NcclRank *>(world->get())};
  if (rank.nccl) {
    rank.anyMemory = !rank.nccl->copies();
    rank.inOrder = rank.nccl->emulated();
  }
  for (const Group &group : scenario.groups) {
    rank.communicators.emplace_back();
    if (!scenario.connects || std::find(group.ranks.begin(), group.ranks.end(), number) == group.ranks.end())
      continue;
    auto made = (*world)->communicator(group, deadlineIn(patience));
    if (!made)
      return fmt::print("{}\n", made.error().message), 2;
    rank.communicators.back() = std::move(*made);
  }
  scenario.run(rank);
  return rank.finish();
}

} // namespace hocket::test

int main(int argc, char **argv) {
  if (std::getenv("HOCKET_TEST_FOLDER"))
    return hocket::test::superviseRank();
  if (const char *name = std::getenv("HOCKET_TEST_SCENARIO"))
    return hocket::test::runRank(hocket::test::scenarios().at(name), std::atoi(std::getenv("HOCKET_TEST_RANK")));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
