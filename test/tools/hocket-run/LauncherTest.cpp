// Runs that end well, and inputs that are refused before a process starts.
#include "RunCommand.h"
#include "SampleProgram.h"
#include "runtime/Data/BatchReader.h"
#include "runtime/Program/Executable.h"
#include "runtime/Program/Random.h"
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace hocket;
using hocket::test::LauncherTest;
using hocket::test::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
// What the sample program computes, without ranks, stages or messages.
struct Reference {
  std::vector<double> w, moment = std::vector<double>(sample::vocabulary);
  double u = 1.5;
  runtime::BatchReader data;

  Reference(const std::string &path, uint64_t seed)
      : data(std::move(*runtime::BatchReader::create(
            std::move(*runtime::TokenStream::open({path, runtime::DataFormat::U8, {}, {}, false, true})),
            {12, sample::sequence, sample::vocabulary, 12, 1}, seed))) {
    for (uint64_t i = 0; i < sample::vocabulary; ++i)
      w.push_back(program::initialNormal(seed, "w", i, 2.0));
  }

  double step(uint64_t number) {
    std::vector<int32_t> ids(12 * sample::sequence), next(ids.size());
    EXPECT_TRUE(data.read((number - 1) * 12, 0, 0, {ids, next, {}}));
    std::vector<double> dw(sample::vocabulary);
    double loss = 0, du = 0, count = static_cast<double>(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      loss += u * w[ids[i]] * next[i];
      dw[ids[i]] += u * next[i];
      du += w[ids[i]] * next[i];
    }
    for (uint64_t i = 0; i < sample::vocabulary; ++i) {
      moment[i] += dw[i];
      w[i] -= sample::rate * dw[i] / count;
    }
    u -= sample::rate * du / count;
    return loss / count;
  }
};

std::vector<nlohmann::json> lines(const std::string &text) {
  std::vector<nlohmann::json> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    result.push_back(nlohmann::json::parse(line));
  return result;
}

double tolerance(double value) { return 1e-5 * std::max(1.0, std::abs(value)); }
} // namespace

TEST_F(LauncherTest, TrainsAsComputedByHand) {
  Outcome outcome = runSample({"--steps", "8", "--metrics", folder + "/metrics"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  Reference reference(data, 1234);
  std::vector<nlohmann::json> steps = lines(read("metrics"));
  ASSERT_EQ(steps.size(), 8u);
  for (uint64_t i = 0; i < 8; ++i) {
    double loss = reference.step(i + 1);
    EXPECT_NEAR(steps[i]["loss"].get<double>(), loss, tolerance(loss)) << "step " << i + 1;
    EXPECT_EQ(steps[i]["step"], i + 1);
    EXPECT_EQ(steps[i]["tokens"], 48);
    EXPECT_TRUE(steps[i].contains("grad_norm") && steps[i].contains("lr") && steps[i]["seconds"] > 0);
  }
  EXPECT_THAT(outcome.out, StartsWith("data: 200 u8 tokens of '" + data + "'\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\nstep 8/8  loss "));
  EXPECT_THAT(outcome.out, HasSubstr("memory planned: 3.25 KiB for all ranks (at most 896 B each)"));
  EXPECT_THAT(rankProcesses(), ElementsAre());
}

// After steps 0 and 3: every rank's boxes are those of the reference, and padding is zero.
TEST_F(LauncherTest, DumpHoldsEveryRanksState) {
  ASSERT_EQ(runSample({"--steps", "3", "--dump", folder + "/dump", "--dump-steps", "0,3"}).status, 0);
  Reference reference(data, 1234);
  for (uint64_t step : {0, 3}) {
    for (uint64_t i = 0; step == 3 && i < 3; ++i)
      reference.step(i + 1);
    for (int rank = 0; rank < 4; ++rank) {
      std::string name = "dump/step" + std::to_string(step) + ".rank" + std::to_string(rank);
      nlohmann::json index = nlohmann::json::parse(read(name + ".json"));
      std::string bytes = read(name + ".bin");
      EXPECT_EQ(index["stage"], rank / 2);
      for (const nlohmann::json &tensor : index["tensors"]) {
        uint64_t begin = tensor["box"][0][0], end = tensor["box"][0][1], padded = tensor["padded"][0];
        const auto *values = reinterpret_cast<const float *>(bytes.data() + tensor["offset"].get<size_t>());
        const std::vector<double> expected = tensor["name"] == "u"           ? std::vector{reference.u}
                                             : tensor["kind"] == "Parameter" ? reference.w
                                                                             : reference.moment;
        for (uint64_t i = 0; i < end - begin; ++i)
          EXPECT_NEAR(values[i], expected[begin + i], tolerance(expected[begin + i])) << name << " " << tensor;
        for (uint64_t i = end - begin; i < padded; ++i)
          EXPECT_EQ(values[i], 0);
      }
    }
  }
}

TEST_F(LauncherTest, RepeatedRunIsEqualToTheLastBit) {
  auto losses = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--steps", "6", "--metrics", folder + "/metrics"});
    EXPECT_EQ(runSample(more).status, 0);
    std::vector<std::string> result;
    for (const nlohmann::json &line : lines(read("metrics")))
      result.push_back(line["loss"].dump());
    return result;
  };
  auto first = losses({});
  EXPECT_EQ(losses({}), first);
  EXPECT_EQ(losses({"--seed", "1234"}), first); // the recipe's
  EXPECT_NE(losses({"--seed", "1235"}), first);
}

TEST_F(LauncherTest, OptionsStandBeforeOrAfterTheExecutable) {
  EXPECT_EQ(run({sample, "--steps", "1", "--data", data, "-n", "4"}).status, 0);
  EXPECT_EQ(run({"-n", "4", "--data=" + data, "--steps=1", sample}).status, 0);
}

TEST_F(LauncherTest, TraceHoldsEveryRowOfEveryRank) {
  ASSERT_EQ(runSample({"--steps", "2", "--trace", folder + "/trace.json"}).status, 0);
  nlohmann::json trace = nlohmann::json::parse(read("trace.json"));
  std::map<std::pair<int, std::string>, int> count;
  for (const nlohmann::json &event : trace["traceEvents"])
    if (event["ph"] == "X")
      ++count[{event["pid"], event["name"]}];
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ((count[{rank, "h"}]), 6); // 2 steps x 3 microbatches
    EXPECT_EQ((count[{rank, "dh"}]), 6);
    EXPECT_EQ((count[{rank, "sum over ranks"}]), rank < 2 ? 6 : 4); // three or two in a step
    EXPECT_EQ((count[{rank, rank < 2 ? "embedding w" : "weighted loss"}]), rank < 2 ? 12 : 14);
  }
  EXPECT_THAT(trace["traceEvents"][0].dump(), HasSubstr("rank 0 (pp=0 dp=0)"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/trace.json.rank0"));
}

TEST_F(LauncherTest, WrongNumberOfRanks) {
  Outcome outcome = run({"-n", "3", sample, "--data", data, "--steps", "1"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.error, "error: '" + sample + "' is compiled for 4 ranks (pp=2, dp=2), started with -n 3\n");
}

TEST_F(LauncherTest, UnreadableCommandLine) {
  for (const std::vector<std::string> &arguments :
       {std::vector<std::string>{},
        {"-n", "four", sample, "--data", data, "--steps", "1"},
        {sample, "--data", data, "--steps", "1"},
        {"-n", "4", sample, "--steps", "1"},
        {"-n", "4", sample, "--data", data, "--steps", "1", "--unknown"},
        {"-n", "4", sample, "--data", data, "--steps", "1", "--timeout", "0"},
        {"-n", "4", sample, "--data", data, "--steps", "1", "--data-type", "u64"}}) {
    Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << testing::PrintToString(arguments);
    EXPECT_NE(outcome.error, "");
  }
}

TEST_F(LauncherTest, VariablesOfTheEnvironment) {
  const std::pair<const char *, const char *> faults[] = {
      {"HOCKET_GRAPH=banana", "HOCKET_GRAPH is 'banana'; legal are 0 and 1"},
      {"HOCKET_EMULATOR_CHECK=maybe", "HOCKET_EMULATOR_CHECK is 'maybe'; legal are 0 and 1"},
      {"HOCKET_DROP_WAIT=foo", "HOCKET_DROP_WAIT is 'foo'; legal is RANK@N, RANK from 0 to 3 and N from 1 on"},
      {"HOCKET_STRAY=1@0", "HOCKET_STRAY is '1@0'; legal is RANK@N, RANK from 0 to 3 and N from 1 on"},
      {"HOCKET_STALL=1@2x", "HOCKET_STALL is '1@2x'; legal is RANK@STEP, RANK from 0 to 3 and STEP from 1 on"},
      {"HOCKET_POISON=4@1", "HOCKET_POISON is '4@1'; legal is RANK@STEP, RANK from 0 to 3 and STEP from 1 on"}};
  for (const auto &[setting, text] : faults) {
    std::string name(setting, std::strchr(setting, '='));
    setenv(name.c_str(), std::strchr(setting, '=') + 1, 1);
    Outcome outcome = run({"-n", "4", sample, "--data", data, "--steps", "1"});
    unsetenv(name.c_str());
    EXPECT_EQ(outcome.status, 2) << setting;
    EXPECT_EQ(outcome.error, fmt::format("error: {}\n", text));
  }
}

TEST_F(LauncherTest, DataFaults) {
  Outcome missing = run({"-n", "4", sample, "--data", folder + "/none", "--steps", "1"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.error, "error: cannot open data file '" + folder + "/none': No such file or directory\n");
  write("tokens", std::string(48, '\1'));
  Outcome tooShort = runSample({"--steps", "1"});
  EXPECT_EQ(tooShort.status, 1);
  EXPECT_EQ(tooShort.error, "error: data file '" + data +
                                "' is too short: its 48 u8 tokens are 11 samples of 4 + 1 tokens, "
                                "expected at least 12 samples (49 tokens) for one global batch\n");
  write("tokens", std::string(90, '\4') + '\5' + std::string(90, '\0'));
  Outcome outside = runSample({"--steps", "1"});
  EXPECT_EQ(outside.status, 1);
  EXPECT_EQ(outside.error, "error: data file '" + data +
                               "' holds token id 5 at byte offset 90, expected ids below the "
                               "vocabulary size 5\n");
}

TEST_F(LauncherTest, DamagedAndForeignExecutables) {
  std::string whole = read("sample");
  size_t blob = whole.find(std::string(program::fileMagic, 8) + std::string("\1\0\0\0\x40", 5));
  ASSERT_NE(blob, std::string::npos);
  auto refused = [&](const std::string &content) {
    std::filesystem::remove(sample);
    write("sample", content);
    Outcome outcome = runSample({"--steps", "1"});
    EXPECT_EQ(outcome.status, 1);
    return outcome.error;
  };
  std::string flipped = whole, damaged = "error: '" + sample + "' is damaged: its ";
  flipped[blob + 300] ^= 4;
  EXPECT_THAT(refused(flipped), StartsWith(damaged + std::to_string(whole.size() - 16) + " bytes have the checksum "));
  std::string unmarked = whole;
  unmarked[whole.size() - 9] ^= 1;
  EXPECT_EQ(refused(unmarked), damaged + "last 16 bytes do not begin with the mark of a seal, HOCKSEAL\n");
  EXPECT_EQ(
      refused(whole.substr(0, whole.size() - 16)),
      "error: '" + sample + "' has no seal: its " + std::to_string(whole.size() - 16) +
          " bytes should end with the 16 that hocket compile wrote; they are cut off, or the file was written anew "
          "by another program\n");
  std::filesystem::remove(sample);
  write("sample", flipped.substr(0, whole.size() - 16));
  ASSERT_TRUE(program::sealExecutable(sample));
  EXPECT_THAT(runSample({"--steps", "1"}).error,
              StartsWith("error: '" + sample + "': program file is damaged: its content has checksum "));
  EXPECT_EQ(refused(whole.substr(0, whole.size() / 2)), "error: '" + sample + "' is truncated: its " +
                                                            std::to_string(whole.size() / 2) +
                                                            " bytes end before what its ELF header announces\n");
  EXPECT_EQ(refused("#!/bin/sh\n"),
            "error: '" + sample + "' is not an executable made by hocket compile: it is no ELF file\n");
}

// Every rank would find it out for itself, in the midst of the run.
TEST_F(LauncherTest, CallsThatCannotBeWritten) {
  Outcome outcome = runSample({"--steps", "1", "--log-calls", folder});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.error, "error: --log-calls '" + folder +
                               "' is a folder, expected the beginning of file names: rank R writes FILE.rankR\n");
  Outcome both = runSample({"--steps", "1", "--log-calls", folder + "/none/calls", "--trace", folder + "/none/trace"});
  EXPECT_EQ(both.status, 1);
  EXPECT_EQ(both.error, "error: cannot write trace file '" + folder + "/none/trace': No such file or directory\n" +
                            "error: cannot write file of calls '" + folder +
                            "/none/calls.rank0': No such file or directory\n");
  std::filesystem::copy_file(data, folder + "/calls.rank0");
  Outcome clash =
      run({"-n", "4", sample, "--data", folder + "/calls.rank0", "--steps", "1", "--log-calls", folder + "/calls"});
  EXPECT_EQ(clash.status, 1);
  EXPECT_EQ(clash.error,
            "error: rank 0's file of --log-calls and --data are the same file '" + folder + "/calls.rank0'\n");
}

// One run tells all.
TEST_F(LauncherTest, ExecutableThatMayNotBeExecuted) {
  std::string path = testing::TempDir() + "hocket-not-executable";
  std::filesystem::copy_file(sample, path, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  Outcome outcome = run({"-n", "4", path, "--data", data, "--steps", "1"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.error, fmt::format("error: cannot start '{}': Permission denied\n", path));
  std::filesystem::remove(path);
}

TEST_F(LauncherTest, EveryFaultOfTheInput) {
  Outcome outcome =
      run({"-n", "3", sample, "--data", folder + "/none", "--steps", "1", "--dump", data + "/x", "--dump-steps", "0"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.error, "error: '" + sample + "' is compiled for 4 ranks (pp=2, dp=2), started with -n 3\n" +
                               "error: cannot open data file '" + folder + "/none': No such file or directory\n" +
                               "error: cannot make folder '" + data + "/x': Not a directory\n");
}

// What is offloaded counts as what is not.
TEST_F(LauncherTest, TooLittleMemoryOfTheHost) {
  Outcome outcome = run({"-n", "4", HOCKET_SAMPLE_TOO_LARGE_FOR_HOST, "--data", data, "--steps", "1"});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.error,
              testing::MatchesRegex("error: 4 ranks need 364 TiB \\([0-9]+ bytes\\) of memory, this machine has "
                                    "[0-9.]+ .iB \\([0-9]+ bytes\\) free\n"));
}

TEST_F(LauncherTest, TooLittleMemory) {
  Outcome outcome = run({"-n", "4", HOCKET_SAMPLE_TOO_LARGE, "--data", data, "--steps", "1"});
  EXPECT_EQ(outcome.status, 4);
  EXPECT_THAT(outcome.error,
              testing::MatchesRegex("error: 4 ranks need 364 TiB \\([0-9]+ bytes\\) of memory, this machine has "
                                    "[0-9.]+ .iB \\([0-9]+ bytes\\) free\n"));
}
