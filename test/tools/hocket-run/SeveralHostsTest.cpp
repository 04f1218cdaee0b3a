// Runs over MPI: on two hosts by hocket-run --hosts, and by mpirun alone. The numbers are those of one host; what fails
// is named as on one host; nothing is left behind.
#include "TwoHosts.h"
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

using namespace hocket::test;
using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

namespace {
// Metrics without what time took.
std::vector<std::string> numbers(const std::string &text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    nlohmann::json numbers = nlohmann::json::parse(line);
    for (const char *measured :
         {"seconds", "tokens_per_second", "flops_per_second", "wait_seconds", "memory_bytes", "memory_bytes_max"})
      numbers.erase(measured);
    result.push_back(numbers.dump());
  }
  return result;
}

const std::vector<std::string> mpirun = {
    "--quiet",        "--oversubscribe", "--bind-to",          "none", "--mca", "btl",
    "vader,tcp,self", "--mca",           "btl_tcp_if_include", "lo"};
} // namespace

// The same sample under mpirun on this host.
class MpirunTest : public LauncherTest {
protected:
  int startMpirun(std::vector<std::string> arguments, const std::string &fault = "") {
    arguments.insert(arguments.begin(), mpirun.begin(), mpirun.end());
    for (const char *name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      ::setenv(name, "1", 1);
    return startProgram(HOCKET_MPIRUN, arguments, fault);
  }
  Outcome runMpirun(std::vector<std::string> arguments, const std::string &fault = "") {
    return wait(startMpirun(std::move(arguments), fault));
  }
};

TEST_F(TwoHosts, NumbersAreThoseOfOneHost) {
  Outcome here = runSample({"--steps", "6", "--metrics", folder + "/here"});
  ASSERT_EQ(here.status, 0) << here.error;
  Outcome there = runOnHosts({"--steps", "6", "--metrics", folder + "/there", "--trace", folder + "/trace"});
  ASSERT_EQ(there.status, 0) << there.error;
  EXPECT_EQ(numbers(read("there")), numbers(read("here")));
  EXPECT_EQ(numbers(read("there")).size(), 6u);
  EXPECT_THAT(read("trace"), HasSubstr("rank 3 (pp=1 dp=1)"));
  EXPECT_TRUE(soon([&] { return processes().empty(); }));
}

// Flags reach the ranks as they were given, those that turn something off too.
TEST_F(TwoHosts, FlagsReachTheRanks) {
  const std::vector<std::string> flags = {"--steps", "3", "--no-shuffle", "--check-finite", "--seed", "7"};
  auto withMetrics = [&](const std::string &name) {
    std::vector<std::string> all = flags;
    all.insert(all.end(), {"--metrics", folder + "/" + name});
    return all;
  };
  ASSERT_EQ(runSample({"--steps", "3", "--seed", "7", "--metrics", folder + "/shuffled"}).status, 0);
  ASSERT_EQ(runSample(withMetrics("here")).status, 0);
  Outcome there = runOnHosts(withMetrics("there"));
  ASSERT_EQ(there.status, 0) << there.error;
  EXPECT_EQ(numbers(read("there")), numbers(read("here")));
  EXPECT_NE(numbers(read("here")), numbers(read("shuffled")));
}

TEST_F(TwoHosts, KilledRankIsNamedWithItsHost) {
  int launcher = startOnHosts({"--steps", "1000000000", "--timeout", "10"});
  ASSERT_TRUE(soon([&] { return read("out").find("step 2/") != std::string::npos; }));
  std::vector<int> ranks = processesOnHost(1);
  ASSERT_EQ(ranks.size(), 2u); // 2 and 3
  ::kill(ranks[1], SIGKILL);
  Outcome outcome = wait(launcher);
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.error,
              MatchesRegex(fmt::format("error: rank [23] \\(pp=1 dp=[01], stage 1, on host {}\\) is gone: its "
                                       "process has ended\n(.|\n)*",
                                       names[1])));
  EXPECT_THAT(outcome.error, HasSubstr("(sample.mlir:"));
  EXPECT_TRUE(soon([&] { return processes().empty(); }));
}

TEST_F(TwoHosts, CutLinkEndsBothSides) {
  int launcher = startOnHosts({"--steps", "1000000000", "--timeout", "3"});
  ASSERT_TRUE(soon([&] { return read("out").find("step 2/") != std::string::npos; }));
  auto begin = std::chrono::steady_clock::now();
  cutLink();
  EXPECT_TRUE(soon([&] { return read("error").find("error: ") != std::string::npos; }, 20));
  EXPECT_TRUE(soon([&] { return rankProcesses().empty(); }, 20)); // on both sides
  Outcome outcome = wait(launcher);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(outcome.status, 3);
  // Of the two that fell silent at once, one may be noticed before the other.
  EXPECT_THAT(outcome.error, AllOf(AnyOf(StartsWith("error: rank 2 (pp=1 dp=0, stage 1, on host " + names[1]),
                                         StartsWith("error: rank 3 (pp=1 dp=1, stage 1, on host " + names[1])),
                                   HasSubstr(") not heard of for ")));
  EXPECT_GT(took.count(), 1.5); // half of the time-out at least was silent
  EXPECT_TRUE(soon([&] { return processes().empty(); }));
}

TEST_F(TwoHosts, TerminationEndsAllRanksAfterTheSameStep) {
  int launcher = startOnHosts({"--steps", "1000000000", "--metrics", folder + "/metrics"});
  ASSERT_TRUE(soon([&] { return read("out").find("step 2/") != std::string::npos; }));
  ::kill(launcher, SIGTERM);
  Outcome outcome = wait(launcher);
  EXPECT_EQ(outcome.status, 128 + SIGTERM) << outcome.error;
  EXPECT_THAT(outcome.out,
              HasSubstr(fmt::format("ended by Terminated after step {}", numbers(read("metrics")).size())));
  EXPECT_TRUE(soon([&] { return processes().empty(); }));
}

TEST_F(TwoHosts, RanksDieWithTheirLauncher) {
  int launcher = startOnHosts({"--steps", "1000000000"});
  ASSERT_TRUE(soon([&] { return read("out").find("step 2/") != std::string::npos; }));
  ::kill(launcher, SIGKILL);
  wait(launcher);
  EXPECT_TRUE(soon([&] { return rankProcesses().empty(); })) << "ranks outlive their launcher";
}

TEST_F(TwoHosts, HostsThatCannotBeUsedAreNamed) {
  write("hosts", fmt::format("{} slots=2\nnowhere slots=2\n", names[0]));
  Outcome unknown = runOnHosts({"--steps", "1"});
  EXPECT_EQ(unknown.status, 4);
  EXPECT_THAT(unknown.error, StartsWith("error: " + hosts + ":2: host 'nowhere' cannot be reached: " + folder +
                                        "/agent ended with status "));
}

TEST_F(LauncherTest, HostsFileFaults) {
  auto fault = [&](const std::string &content) {
    write("hosts", content);
    Outcome outcome = runSample({"--steps", "1", "--hosts", folder + "/hosts"});
    EXPECT_EQ(outcome.status, 1);
    return outcome.error;
  };
  std::string file = folder + "/hosts";
  EXPECT_EQ(fault("# none\n"), "error: hosts file '" + file + "' names no host\n");
  EXPECT_EQ(fault("a slots=2\nb\n"), "error: hosts file '" + file + "' has 3 slots on 2 hosts, the program needs 4\n");
  EXPECT_EQ(fault("a slots=0\nb cores=2\na\n"),
            "error: " + file + ":1: 'slots=0' is not a whole number from 1 to 1048576\n" + "error: " + file +
                ":2: unknown word 'cores=2'; after the host stand slots=N and max_slots=N\n" + "error: " + file +
                ":3: host 'a' stands already in line 1\n");
  std::filesystem::remove(file);
  Outcome missing = runSample({"--steps", "1", "--hosts", file});
  EXPECT_EQ(missing.error, "error: cannot open hosts file '" + file + "': No such file or directory\n");
  std::filesystem::create_directory(file);
  Outcome notFile = runSample({"--steps", "1", "--hosts", file});
  EXPECT_EQ(notFile.error, "error: hosts file '" + file + "' is not a file\n");
}

TEST_F(MpirunTest, NeedsNoLauncherOfOurs) {
  Outcome here = runSample({"--steps", "5", "--metrics", folder + "/here"});
  Outcome outcome = runMpirun({"-n", "4", sample, "--data", data, "--steps", "5", "--metrics", folder + "/metrics"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(numbers(read("metrics")), numbers(read("here")));
  EXPECT_THAT(outcome.out, HasSubstr("step 5/5  loss "));
  EXPECT_THAT(outcome.out,
              HasSubstr("memory planned: 3.25 KiB for all ranks (at most 896 B each); used at the peak: "));
}

TEST_F(MpirunTest, InputFaultsAreSaidOnce) {
  Outcome three = runMpirun({"-n", "3", sample, "--data", data, "--steps", "1"});
  EXPECT_EQ(three.status, 1);
  EXPECT_EQ(three.error, "error: '" + sample + "' is compiled for 4 ranks (pp=2, dp=2), started with 3\n");
  Outcome missing = runMpirun({"-n", "4", sample, "--data", folder + "/none", "--steps", "1"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.error, "error: cannot open data file '" + folder + "/none': No such file or directory\n");
  EXPECT_EQ(runMpirun({"-n", "4", sample, "--data", data, "--steps", "x"}).status, 2);
}

TEST_F(MpirunTest, AnotherExecutableOnOneRankIsNamed) {
  std::filesystem::copy_file(sample, folder + "/other");
  std::ofstream(folder + "/other", std::ios::app) << "x";
  Outcome outcome = runMpirun({"-n", "2", sample, "--data", data, "--steps", "1", ":", "-n", "2", folder + "/other",
                               "--data", data, "--steps", "1"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(
      outcome.error,
      MatchesRegex("error: the executable of rank 2 on host [^ ]+ \\(checksum [0-9a-f]+\\) is not that of rank 0 on "
                   "host [^ ]+ \\(checksum [0-9a-f]+\\); all ranks need the same\n"));
}

TEST_F(MpirunTest, HangingRankIsNamedWithinTheTimeout) {
  Outcome outcome = runMpirun({"-n", "4", sample, "--data", data, "--steps", "50", "--timeout", "2"}, "hang:1:2");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.error,
              StartsWith("error: rank 1 (pp=0 dp=1, stage 0) made no progress for 1.8 s (--timeout 2)\n"
                         "note: rank 1 (pp=0 dp=1, stage 0) was at step 2, microbatch 1, forward_0 instruction 0 "
                         "'embedding w' (sample.mlir:3:8), computing\n"));
  // A rank that hangs no longer helps MPI to send, so whether its last message arrived is chance.
  EXPECT_THAT(outcome.error,
              ContainsRegex("note: rank 3 \\(pp=1 dp=1, stage 1\\) waits for rank 1: step 2, microbatch [01], receive "
                            "'h' \\(sample.mlir:3:8\\), waiting to receive on communicator 4 'pp 0->1' of ranks 1, "
                            "3\n"));
  EXPECT_THAT(rankProcesses(), ElementsAre());
}

TEST_F(MpirunTest, StoppedRankIsNamed) {
  Outcome outcome = runMpirun({"-n", "4", sample, "--data", data, "--steps", "50", "--timeout", "2"}, "stop:2:2");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.error, StartsWith("error: rank 2 (pp=1 dp=0, stage 1) not heard of for 1."));
  EXPECT_THAT(rankProcesses(), ElementsAre());
}

TEST_F(MpirunTest, NotFiniteResultIsNamed) {
  Outcome outcome = runMpirun({"-n", "4", sample, "--data", data, "--steps", "50", "--check-finite"}, "nan:2:3");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.error, HasSubstr("failed: step 3, "));
  EXPECT_THAT(outcome.error, HasSubstr("(sample.mlir:7:8): "));
}

// The end of rank 0, which watches the others, is told by rank 1.
TEST_F(MpirunTest, EndOfRank0IsNamedByRank1) {
  Outcome outcome = runMpirun({"-n", "4", sample, "--data", data, "--steps", "50", "--timeout", "5"}, "exit:0:2");
  EXPECT_EQ(outcome.status, 7); // mpirun's: that of the first rank to end
  EXPECT_THAT(outcome.error,
              StartsWith("error: rank 0 (pp=0 dp=0, stage 0) is gone: its process has ended\nnote: rank 0 (pp=0 "
                         "dp=0, stage 0) was at step "));
  EXPECT_THAT(rankProcesses(), ElementsAre());
}

// An executable starts without MPI's library, and says what is missing only where it is asked to use it.
TEST_F(MpirunTest, MissingLibraryIsNamed) {
  if (shell("unshare --mount true 2>/dev/null") != 0)
    GTEST_SKIP() << "cannot hide a file here; needs root";
  std::string hide = "for f in $(ldconfig -p | grep -o '/[^ ]*libmpi.so.40'); do mount --bind /dev/null $f; done; ";
  Outcome alone =
      wait(startProgram("unshare",
                        {"--mount", "sh", "-c",
                         hide + fmt::format("exec {} -n 4 {} --data {} --steps 1", HOCKET_RUN_PROGRAM, sample, data)},
                        ""));
  EXPECT_EQ(alone.status, 0) << alone.error;
  Outcome asked = wait(startProgram(
      "unshare",
      {"--mount", "sh", "-c", hide + fmt::format("OMPI_COMM_WORLD_RANK=0 exec {} --data {} --steps 1", sample, data)},
      ""));
  EXPECT_EQ(asked.status, 4);
  EXPECT_THAT(asked.error,
              AllOf(StartsWith("error: a run over MPI needs Open MPI's libmpi.so.40"), HasSubstr("libopenmpi3")));
}
