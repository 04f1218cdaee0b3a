// Expert parallelism never changes what a model computes: a tiny mixture under many plans, in float64, against one rank.
#include "test/passes/Dist/PlanRuns.h"
#include <gtest/gtest.h>
using namespace hocket::testing;

namespace {
constexpr double tolerance = 1e-9;

void expectEqual(int64_t dp, int64_t tp, int64_t zero, std::string tactics) {
  TestPlan plan{dp, tp, zero, tactics};
  plan.entries = "capacity 1\nauxiliary_loss 0.3";
  WorstDifference worst = compareWithOneRank(fourExperts, plan, 2 * dp, 2, 2);
  EXPECT_LE(worst.value, tolerance) << tactics << ": " << worst.name;
}
} // namespace

TEST(Experts, OverNoAxis) {
  expectEqual(2, 1, 0, "");
  expectEqual(2, 2, 1, "split megatron over \"tp\"");
}
TEST(Experts, OverTheBatch) {
  for (int64_t zero : {0, 1})
    for (int64_t dp : {2, 4})
      expectEqual(dp, 1, zero, "experts over \"dp\"");
}
TEST(Experts, EachOverTensorParallelRanksToo) {
  for (int64_t zero : {0, 1})
    expectEqual(2, 2, zero, "experts over \"dp\"\nsplit megatron over \"tp\"");
}
// Two groups of ranks that exchange tokens; each expert lives in both, and its gradient is a sum over them.
TEST(Experts, OverAPartOfTheBatch) {
  for (int64_t zero : {0, 1}) {
    expectEqual(4, 1, zero, "experts over {\"dp\":(2)2}");
    expectEqual(4, 2, zero, "experts over {\"dp\":(2)2}\nsplit megatron over \"tp\"");
  }
}
// Experts instead of pieces of experts on the tensor-parallel ranks: etp is 1.
TEST(Experts, OverTensorParallelRanks) {
  for (int64_t zero : {0, 1}) {
    expectEqual(1, 4, zero, "experts over \"tp\"");
    expectEqual(2, 2, zero, "experts over \"tp\"\nsplit megatron over \"tp\"");
    expectEqual(2, 2, zero, "experts over {\"dp\", \"tp\"}\nsplit megatron over \"tp\"");
  }
}
// The comparison can fail: sums over the two homes of each expert are seen. (An exchange that does nothing has no shape.)
TEST(Experts, WhatIsBrokenIsSeen) {
  TestPlan plan{4, 1, 0, "experts over {\"dp\":(2)2}"};
  plan.entries = "capacity 1";
  EXPECT_GT(compareWithOneRank(fourExperts, plan, 8, 1, 1, "dist.all_reduce").value, 1e-3);
}
