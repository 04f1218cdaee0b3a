// Runs the scenarios on every backend.
#include "Conformance/Scenario.h"
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <thread>

namespace hocket::test {
namespace {

// Every rank ends well; skipped where the machine cannot run it.
void passes(Backend &backend, const std::string &scenario) {
  if (std::string lacking = backend.lacks(scenario); !lacking.empty())
    GTEST_SKIP() << lacking;
  auto outcomes = backend.run(scenario);
  ASSERT_EQ(outcomes.size(), static_cast<size_t>(scenarios().at(scenario).worldSize)) << outcomes[0].text;
  for (size_t rank = 0; rank < outcomes.size(); ++rank)
    EXPECT_EQ(outcomes[rank].status, 0) << scenario << ", rank " << rank << ":\n" << outcomes[rank].text;
}

class Conformance : public testing::TestWithParam<Backend *> {
protected:
  void pass(const std::string &scenario) { passes(*GetParam(), scenario); }
};

TEST_P(Conformance, CollectivesEqualTheSerialReference) { pass("collectives"); }
TEST_P(Conformance, CollectivesOfOneRank) { pass("collectives-1"); }
TEST_P(Conformance, LargeCollectivesEqualTheSerialReference) { pass("large"); }
TEST_P(Conformance, NotANumberIsPassedOn) { pass("not-a-number"); }
TEST_P(Conformance, StepsAroundARing) { pass("shifts"); }
TEST_P(Conformance, StepsOfARingOfOne) { pass("shift-alone"); }
TEST_P(Conformance, SendCompletesWhenReceived) { pass("rendezvous"); }
TEST_P(Conformance, MessagesMoveDuringACollective) { pass("behind-a-collective"); }

// Of the backends on host memory: their messages wait for no order, any thread may call, an error names ranks.
using OnHosts = Conformance;
TEST_P(OnHosts, MessagesInARing) { pass("rings"); }
TEST_P(OnHosts, MessagesInBothDirectionsAtOnce) { pass("two-way"); }
TEST_P(OnHosts, CommunicatorsOfTwoThreads) { pass("threads"); }
TEST_P(OnHosts, MismatchedCountsAreNamed) { pass("mismatched-collective"); }
TEST_P(OnHosts, MismatchedOperationsAreNamed) { pass("mismatched-operation"); }
TEST_P(OnHosts, MismatchedMessageSizesAreNamed) { pass("mismatched-message"); }
TEST_P(OnHosts, BadArgumentsAreRefused) { pass("bad-arguments"); }
TEST_P(OnHosts, AnAbsentRankIsNamed) { pass("absent"); }
TEST_P(OnHosts, AnAbortEndsEveryWait) { pass("aborted"); }

TEST_P(OnHosts, AKilledRankIsNamedByTheOthers) {
  auto outcomes = GetParam()->run("endless", [](const std::vector<int> &pids) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (pids[2] > 0) // 0 stands for all of this test's own
      kill(pids[2], SIGKILL);
  });
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_EQ(outcomes[2].status, -SIGKILL);
  for (int rank : {0, 1, 3}) {
    EXPECT_EQ(outcomes[rank].status, 1);
    EXPECT_EQ(outcomes[rank].text,
              "all_reduce sum of 200000 f32 on communicator 0 \"world\" of ranks 0, 1, 2, 3: time is "
              "up; missing: rank 2\n");
  }
}

std::string nameOf(const testing::TestParamInfo<Backend *> &info) { return info.param->name(); }
INSTANTIATE_TEST_SUITE_P(Backends, Conformance,
                         testing::Values(&shmBackend(), &mpiBackend(), &ncclBackend(), &gpuBackend(), &tcpBackend()),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Backends, OnHosts, testing::Values(&shmBackend(), &mpiBackend(), &tcpBackend()), nameOf);

// Over the emulated NCCL, for several draws among streams.
struct OverNccl : testing::TestWithParam<int> {
  static std::vector<Outcome> run(const std::string &scenario, int seed = 0, const char *resident = nullptr) {
    setenv("HOCKET_TEST_SEED", std::to_string(seed).c_str(), 1);
    if (resident)
      setenv("HOCKET_TEST_RESIDENT", resident, 1);
    auto outcomes = ncclBackend().run(scenario);
    unsetenv("HOCKET_TEST_SEED");
    unsetenv("HOCKET_TEST_RESIDENT");
    return outcomes;
  }
  static void pass(const std::string &scenario, int seed = 0, const char *resident = nullptr) {
    auto outcomes = run(scenario, seed, resident);
    ASSERT_EQ(outcomes.size(), static_cast<size_t>(scenarios().at(scenario).worldSize)) << outcomes[0].text;
    for (size_t rank = 0; rank < outcomes.size(); ++rank)
      EXPECT_EQ(outcomes[rank].status, 0) << scenario << ", rank " << rank << ":\n" << outcomes[rank].text;
  }
};

// What NCCL promises beyond the interface, of as many ranks as there are GPUs.
struct OverGpus : testing::TestWithParam<const char *> {};
TEST_P(OverGpus, Passes) { passes(gpuBackend(), GetParam()); }
std::string scenarioName(const testing::TestParamInfo<const char *> &info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Scenarios, OverGpus,
                         testing::Values("nccl-cluster-1", "nccl-groups-1", "nccl-graph-1", "collectives-2",
                                         "nccl-cluster-2", "nccl-groups-2", "nccl-graph-2", "nccl-three",
                                         "nccl-aborted", "nccl-absent-at-init", "collectives-4", "nccl-groups",
                                         "nccl-cluster"),
                         scenarioName);

TEST_P(OverNccl, ManyCommunicatorsAtOnce) { pass("nccl-cluster", GetParam()); }
TEST_P(OverNccl, ThreeRanksAtOnce) { pass("nccl-three", GetParam()); }
TEST_P(OverNccl, CallsInAGroup) { pass("nccl-groups", GetParam()); }
INSTANTIATE_TEST_SUITE_P(Seeds, OverNccl, testing::Range(1, 5));

TEST(OverNcclFaults, ARingOfSendsWithoutAGroupStandsStill) { OverNccl::pass("nccl-ring"); }
TEST(OverNcclFaults, AsManyKernelsAsAreResident) { OverNccl::pass("nccl-residency", 0, "2"); }
TEST(OverNcclFaults, MismatchedCountsAreNamed) { OverNccl::pass("nccl-counts"); }
TEST(OverNcclFaults, MismatchedTypesAreNamed) { OverNccl::pass("nccl-types"); }
TEST(OverNcclFaults, MismatchedOrderIsNamed) { OverNccl::pass("nccl-order"); }
TEST(OverNcclFaults, AMessageAgainstACollectiveIsNamed) { OverNccl::pass("nccl-message-or-collective"); }
TEST(OverNcclFaults, MismatchedMessageSizesAreNamed) { OverNccl::pass("nccl-message"); }
TEST(OverNcclFaults, BadArgumentsAreRefused) { OverNccl::pass("nccl-bad-arguments"); }
TEST(OverNcclFaults, CallsOfAGroupThatTouchTheSameMemoryAreRefused) { OverNccl::pass("nccl-same-memory"); }
TEST(OverNcclFaults, AnAbortEndsEveryWait) { OverNccl::pass("nccl-aborted"); }
TEST(OverNcclFaults, AMemberThatDoesNotComeIsATimeout) { OverNccl::pass("nccl-absent-at-init"); }

TEST(OverNcclFaults, MoreKernelsThanAreResidentStandStill) {
  auto outcomes = OverNccl::run("nccl-residency", 0, "1");
  ASSERT_EQ(outcomes.size(), 2u);
  for (const Outcome &outcome : outcomes)
    EXPECT_EQ(outcome.text, "the work queued on a stream was not done by its deadline\n");
}

TEST(OverNcclFaults, AKilledRankEndsTheOthersByTheirDeadline) {
  auto outcomes = ncclBackend().run("nccl-endless", [](const std::vector<int> &pids) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (pids[2] > 0)
      kill(pids[2], SIGKILL);
  });
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes[2].status, -SIGKILL);
  for (int rank : {0, 1})
    EXPECT_EQ(outcomes[rank].text, "the work queued on a stream was not done by its deadline\n");
}

} // namespace
} // namespace hocket::test
