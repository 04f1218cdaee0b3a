// What is made again changes nothing in reference semantics, on one rank and on several; and what is kept is the least.
#include "passes/Dist/LeastKept.h"
#include "test/passes/Dist/PlanRuns.h"
#include <gtest/gtest.h>
#include <random>
using namespace hocket;
using namespace hocket::testing;

namespace {
struct Case {
  const char *name;
  const TestModel *model;
  TestPlan plan;
};
std::vector<Case> cases() {
  TestPlan gathered{2, 2, 3};
  gathered.zeroOptions = "gather per_use";
  TestPlan mixture{2, 1, 0, "experts over \"dp\""};
  mixture.entries = "capacity 1";
  return {{"Gpt", &fourHeadGpt, {1, 1}},
          {"GptTensorParallel", &fourHeadGpt, {2, 2, 1}},
          {"GptGathered", &fourHeadGpt, gathered},
          {"LlamaGroups", &groupedLlama, {1, 4}},
          {"Mixture", &fourExperts, mixture}};
}
class Recompute : public ::testing::TestWithParam<Case> {};
} // namespace

// The difference from one rank that keeps everything is that of the plan without recompute, to the last bit.
TEST_P(Recompute, DiffersFromOneRankAsWithout) {
  const Case &param = GetParam();
  auto worst = [&](const std::string &recompute) {
    TestPlan plan = param.plan;
    plan.splits += "\n" + recompute;
    return compareWithOneRank(*param.model, plan, 2 * plan.dp, 2, 2);
  };
  WorstDifference without = worst("");
  ASSERT_LE(without.value, 1e-9) << without.name;
  for (const char *kind : {"recompute full", "recompute selective"}) {
    WorstDifference with = worst(kind);
    EXPECT_EQ(with.value, without.value) << kind << ": " << with.name;
  }
}
INSTANTIATE_TEST_SUITE_P(Plans, Recompute, ::testing::ValuesIn(cases()), [](auto &info) { return info.param.name; });

namespace {
/// Random values in order, each made of earlier ones or not to be made again.
struct RandomValues {
  static constexpr unsigned count = 9;
  std::vector<int64_t> bytes;
  std::vector<std::vector<unsigned>> operands;
  std::vector<bool> fixed, read;

  explicit RandomValues(unsigned seed) : operands(count), fixed(count), read(count) {
    std::mt19937 random(seed);
    for (unsigned value = 0; value < count; ++value) {
      bytes.push_back(1 + random() % 20);
      read[value] = random() % 3 == 0;
      for (unsigned before = 0; before < value; ++before)
        if (random() % 3 == 0)
          operands[value].push_back(before);
      fixed[value] = operands[value].empty() || random() % 4 == 0;
    }
  }
  /// True if everything that is read is kept, or can be made of what is.
  bool suffices(unsigned kept) const {
    std::vector<bool> there(count);
    for (unsigned value = 0; value < count; ++value) {
      there[value] = kept >> value & 1 || (!fixed[value] && std::all_of(operands[value].begin(), operands[value].end(),
                                                                        [&](unsigned each) { return there[each]; }));
      if (read[value] && !there[value])
        return false;
    }
    return true;
  }
  int64_t bytesOf(unsigned kept) const {
    int64_t sum = 0;
    for (unsigned value = 0; value < count; ++value)
      sum += kept >> value & 1 ? bytes[value] : 0;
    return sum;
  }
};
} // namespace

TEST(LeastKept, IsTheLeastOfAllSets) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomValues values(seed);
    dist::LeastKept cut;
    for (unsigned value = 0; value < RandomValues::count; ++value) {
      cut.add(values.bytes[value]);
      if (values.fixed[value])
        cut.cannotBeMade(value);
      for (unsigned operand : values.operands[value])
        if (!values.fixed[value])
          cut.makes(operand, value);
      if (values.read[value])
        cut.isRead(value);
    }
    auto again = cut.solve();
    // Kept is what is read, or what something made again is made of, and is not made again itself.
    unsigned kept = 0;
    for (unsigned value = 0; value < RandomValues::count; ++value) {
      if (values.read[value] && !again[value])
        kept |= 1u << value;
      for (unsigned operand : values.operands[value])
        if (again[value] && !again[operand])
          kept |= 1u << operand;
      EXPECT_FALSE(again[value] && values.fixed[value]);
    }
    int64_t least = INT64_MAX;
    for (unsigned set = 0; set < 1u << RandomValues::count; ++set)
      if (values.suffices(set))
        least = std::min(least, values.bytesOf(set));
    EXPECT_TRUE(values.suffices(kept)) << "seed " << seed;
    EXPECT_EQ(values.bytesOf(kept), least) << "seed " << seed;
  }
}

// x -> y -> z of equal bytes, z read: z itself is kept, for nothing has to run again then.
TEST(LeastKept, OfEqualCutsTakesTheNearestToBackward) {
  dist::LeastKept cut;
  for (int i = 0; i < 3; ++i)
    cut.add(8);
  cut.cannotBeMade(0);
  cut.makes(0, 1);
  cut.makes(1, 2);
  cut.isRead(2);
  EXPECT_EQ(cut.solve(), (llvm::SmallVector<bool>{false, false, false}));
}
