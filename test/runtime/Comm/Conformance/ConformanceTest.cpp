// Runs the scenarios on every backend.
#include "Conformance/Scenario.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <thread>

namespace hocket::test {
namespace {

class Conformance : public testing::TestWithParam<Backend *> {
protected:
  // Every rank ends well.
  void pass(const std::string &scenario) {
    auto outcomes = GetParam()->run(scenario);
    ASSERT_EQ(outcomes.size(), static_cast<size_t>(scenarios().at(scenario).worldSize)) << outcomes[0].text;
    for (size_t rank = 0; rank < outcomes.size(); ++rank)
      EXPECT_EQ(outcomes[rank].status, 0) << scenario << ", rank " << rank << ":\n" << outcomes[rank].text;
  }
};

TEST_P(Conformance, CollectivesEqualTheSerialReference) { pass("collectives"); }
TEST_P(Conformance, LargeCollectivesEqualTheSerialReference) { pass("large"); }
TEST_P(Conformance, NotANumberIsPassedOn) { pass("not-a-number"); }
TEST_P(Conformance, MessagesInARing) { pass("rings"); }
TEST_P(Conformance, MessagesInBothDirectionsAtOnce) { pass("two-way"); }
TEST_P(Conformance, SendCompletesWhenReceived) { pass("rendezvous"); }
TEST_P(Conformance, MessagesMoveDuringACollective) { pass("behind-a-collective"); }
TEST_P(Conformance, CommunicatorsOfTwoThreads) { pass("threads"); }
TEST_P(Conformance, MismatchedCountsAreNamed) { pass("mismatched-collective"); }
TEST_P(Conformance, MismatchedOperationsAreNamed) { pass("mismatched-operation"); }
TEST_P(Conformance, MismatchedMessageSizesAreNamed) { pass("mismatched-message"); }
TEST_P(Conformance, BadArgumentsAreRefused) { pass("bad-arguments"); }
TEST_P(Conformance, AnAbsentRankIsNamed) { pass("absent"); }
TEST_P(Conformance, AnAbortEndsEveryWait) { pass("aborted"); }

TEST_P(Conformance, AKilledRankIsNamedByTheOthers) {
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

INSTANTIATE_TEST_SUITE_P(Backends, Conformance, testing::Values(&shmBackend(), &mpiBackend()),
                         [](const testing::TestParamInfo<Backend *> &info) { return info.param->name(); });

} // namespace
} // namespace hocket::test
