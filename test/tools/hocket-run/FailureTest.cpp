// Ranks that die, stop, hang or compute nonsense, and launchers that are killed: the report names the rank at fault and
// those that wait for it, and nothing is left behind.
#include "RunCommand.h"
#include <chrono>
#include <csignal>
#include <thread>

using hocket::test::LauncherTest;
using hocket::test::Outcome;
using hocket::test::soon;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(LauncherTest, KilledRankIsNamed) {
  Outcome outcome = runSample({"--steps", "50", "--timeout", "5"}, "kill:3:2");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.error,
              StartsWith("error: rank 3 (pp=1 dp=1, stage 1) was killed by signal 9 (Killed)\n"
                         "note: rank 3 (pp=1 dp=1, stage 1) was at step 2, microbatch 1, forward_1 instruction 0 "
                         "'weighted loss' (sample.mlir:7:8), computing\n"));
  EXPECT_THAT(outcome.error,
              HasSubstr("note: rank 1 (pp=0 dp=1, stage 0) waits for rank 3: step 2, microbatch 1, receive 'dh' "
                        "(sample.mlir:3:8), waiting to receive on communicator 6 'pp 1->0' of ranks 3, 1\n"));
  EXPECT_THAT(outcome.error,
              HasSubstr("note: rank 2 (pp=1 dp=0, stage 1) waits for rank 3: step 2, update instruction 0 'sum "
                        "over ranks' (sample.mlir:7:8), waiting in a collective on communicator 0 'pp,dp' of "
                        "ranks 0, 1, 2, 3\n"));
  EXPECT_THAT(rankProcesses(), ElementsAre());
}

TEST_F(LauncherTest, StoppedAndHangingRanksAreNamedWithinTheTimeout) {
  for (const char *fault : {"stop:1:2", "hang:1:2"}) {
    auto begin = std::chrono::steady_clock::now();
    Outcome outcome = runSample({"--steps", "50", "--timeout", "2"}, fault);
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(outcome.status, 3);
    EXPECT_THAT(outcome.error,
                StartsWith("error: rank 1 (pp=0 dp=1, stage 0) made no progress for 1.8 s (--timeout 2)\n"
                           "note: rank 1 (pp=0 dp=1, stage 0) was at step 2, microbatch 1, forward_0 instruction 0 "
                           "'embedding w' (sample.mlir:3:8), computing\n"));
    EXPECT_THAT(outcome.error,
                HasSubstr("note: rank 3 (pp=1 dp=1, stage 1) waits for rank 1: step 2, microbatch 1, receive 'h' "
                          "(sample.mlir:3:8), waiting to receive on communicator 4 'pp 0->1' of ranks 1, 3\n"));
    EXPECT_GT(took.count(), 1.8); // a slow machine may add to it, nothing may take from it
    EXPECT_THAT(rankProcesses(), ElementsAre());
  }
}

// Stopped in a wait: its own status says that it waits, its process that it is stopped.
TEST_F(LauncherTest, RankStoppedWhileItWaits) {
  int launcher = start({"-n", "4", sample, "--data", data, "--steps", "1000000000", "--timeout", "2"}, "");
  ASSERT_TRUE(soon([&] { return read("out").find("step 1/") != std::string::npos; }));
  int pid = rankPid("pp=1 dp=0");
  ASSERT_NE(pid, 0);
  ::kill(pid, SIGSTOP);
  Outcome outcome = wait(launcher);
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.error,
              StartsWith("error: rank 2 (pp=1 dp=0, stage 1) made no progress for 1.8 s (--timeout 2)\n"));
  EXPECT_THAT(outcome.error, HasSubstr("waits for rank 2"));
  EXPECT_THAT(rankProcesses(), ElementsAre());
}

TEST_F(LauncherTest, RankThatExitsEarly) {
  Outcome outcome = runSample({"--steps", "50"}, "exit:0:2");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.error, StartsWith("error: rank 0 (pp=0 dp=0, stage 0) ended with status 7\n"));
  EXPECT_THAT(rankProcesses(), ElementsAre());
}

TEST_F(LauncherTest, NotFiniteResultIsNamed) {
  Outcome outcome = runSample({"--steps", "50", "--check-finite"}, "nan:2:3");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.error,
              HasSubstr("failed: step 3, update, sum over ranks (sample.mlir:7:8): not finite: element [0] of 'result' "
                        "(F32) is nan"));
  EXPECT_EQ(runSample({"--steps", "5"}, "nan:2:3").status, 0); // only where it is asked for
}

TEST_F(LauncherTest, RanksNameExecutableAndCoordinates) {
  int launcher = start({"-n", "4", sample, "--data", data, "--steps", "1000000000", "--timeout", "5"}, "hang:0:1");
  EXPECT_TRUE(soon([&] { return rankProcesses().size() == 4; }));
  EXPECT_THAT(rankProcesses(), ElementsAre("pp=0 dp=0", "pp=0 dp=1", "pp=1 dp=0", "pp=1 dp=1"));
  ::kill(launcher, SIGKILL);
  wait(launcher);
  EXPECT_TRUE(soon([&] { return rankProcesses().empty(); })) << "ranks outlive their launcher";
}

TEST_F(LauncherTest, TerminationEndsAllRanksAfterTheSameStep) {
  for (int signal : {SIGTERM, SIGINT}) {
    int launcher =
        start({"-n", "4", sample, "--data", data, "--steps", "1000000000", "--metrics", folder + "/metrics"}, "");
    ASSERT_TRUE(soon([&] { return read("out").find("step 1/") != std::string::npos; }));
    ::kill(launcher, signal);
    Outcome outcome = wait(launcher);
    EXPECT_EQ(outcome.status, 128 + signal) << outcome.error; // a run that is done ends with 0
    EXPECT_THAT(outcome.out,
                HasSubstr(signal == SIGTERM ? "ended by Terminated after step " : "ended by Interrupt after step "));
    EXPECT_THAT(rankProcesses(), ElementsAre());
  }
}

TEST_F(LauncherTest, SecondSignalDoesNotWait) {
  int launcher = start({"-n", "4", sample, "--data", data, "--steps", "1000000000", "--timeout", "1000"}, "hang:0:2");
  ASSERT_TRUE(soon([&] { return read("out").find("step 1/") != std::string::npos; }));
  for (int i = 0; i < 2; ++i) {
    ::kill(launcher, SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  Outcome outcome = wait(launcher);
  EXPECT_EQ(outcome.status, 128 + SIGTERM);
  EXPECT_THAT(outcome.error, HasSubstr("error: rank 0 (pp=0 dp=0, stage 0)"));
  EXPECT_THAT(outcome.error, HasSubstr("still ran at the second Terminated\n"));
  EXPECT_THAT(rankProcesses(), ElementsAre());
}
