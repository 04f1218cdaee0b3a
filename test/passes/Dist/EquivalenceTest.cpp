// A plan never changes what a model computes: tiny models under many plans, in float64, against one rank.
#include "test/passes/Dist/PlanRuns.h"
#include <gtest/gtest.h>
using namespace hocket::testing;

namespace {
constexpr double tolerance = 1e-9;

struct Case {
  const TestModel *model;
  TestPlan plan;
};
std::string nameOf(const ::testing::TestParamInfo<Case> &info) {
  const TestPlan &plan = info.param.plan;
  return std::string(info.param.model->name) + "_dp" + std::to_string(plan.dp) + "_tp" + std::to_string(plan.tp) +
         "_zero" + std::to_string(plan.zero) + (plan.zeroOptions.empty() ? "" : "_" + plan.zeroOptions.substr(7));
}

std::vector<Case> grid() {
  std::vector<Case> cases;
  for (const TestModel *model : {&fourHeadGpt, &groupedLlama})
    for (int64_t dp : {1, 2, 4})
      for (int64_t tp : {1, 2, 4})
        for (int64_t zero : {0, 1})
          if (dp * tp <= 8)
            cases.push_back({model, {dp, tp, zero}});
  // Three data-parallel ranks divide no dimension of these models: every shard is padded.
  for (const TestModel *model : {&fourHeadGpt, &groupedLlama})
    for (auto [dp, tp] : {std::pair(2, 1), {3, 1}, {2, 2}, {3, 2}, {4, 2}}) {
      cases.push_back({model, {dp, tp, 2}});
      for (const char *way : {"per_use", "kept", "once", "once_partial"}) {
        TestPlan plan{dp, tp, 3};
        plan.zeroOptions = std::string("gather ") + way;
        cases.push_back({model, plan});
      }
    }
  return cases;
}
class Equivalence : public ::testing::TestWithParam<Case> {};
} // namespace

TEST_P(Equivalence, LossGradientsAndParametersAreThoseOfOneRank) {
  const Case &param = GetParam();
  WorstDifference worst = compareWithOneRank(*param.model, param.plan, 2 * param.plan.dp, 2, 2);
  EXPECT_LE(worst.value, tolerance) << worst.name;
}
INSTANTIATE_TEST_SUITE_P(Plans, Equivalence, ::testing::ValuesIn(grid()), nameOf);

namespace {
void expectEqual(const TestModel &model, const TestPlan &plan) {
  WorstDifference worst = compareWithOneRank(model, plan, 2 * plan.dp, 1, 2);
  EXPECT_LE(worst.value, tolerance) << worst.name;
}
} // namespace

// What `split megatron` finds, written out; biases follow by propagation.
TEST(Equivalence, ExplicitTactics) {
  expectEqual(fourHeadGpt, {2, 2, 1,
                            R"(split "h.*.attn.qkv.weight" dim 2 over "tp"
                               split "h.*.attn.proj.weight" dim 0 over "tp"
                               split "h.*.mlp.fc.weight" dim 1 over "tp"
                               split "h.*.mlp.proj.weight" dim 0 over "tp"
                               split "wte" dim 0 over "tp")"});
}
// A row split alone brings the column split with it.
TEST(Equivalence, OnlyTheRowsOfTheFeedForward) {
  expectEqual(fourHeadGpt, {1, 4, 0, R"(split "h.*.mlp.proj.weight" dim 0 over "tp")"});
}
TEST(Equivalence, OnlyTheVocabulary) { expectEqual(fourHeadGpt, {2, 4, 1, R"(split "wte" dim 0 over "tp")"}); }
TEST(Equivalence, OneLayerOnly) { expectEqual(fourHeadGpt, {1, 2, 0, R"(split "h.1.mlp.fc.weight" dim 1 over "tp")"}); }
// Seven shards of 13 rows hold 2, 2, 2, 2, 2, 2, 1; of 10 columns 2, 2, 2, 2, 2, 0, 0.
TEST(Equivalence, EmptyShards) {
  expectEqual(fourHeadGpt, {1, 7, 0, R"(split "wte" dim 0 over "tp"
                                        split "h.*.mlp.fc.weight" dim 1 over "tp")"});
}
// KV heads over the major half, their query heads over the minor one, written out.
TEST(Equivalence, SubAxesByHand) {
  expectEqual(groupedLlama, {1, 4, 0,
                             R"(split "layers.*.attn.q.weight" dim 1 over {"tp":(1)2}
                                split "layers.*.attn.q.weight" dim 2 over {"tp":(2)2}
                                split "layers.*.attn.kv.weight" dim 2 over {"tp":(1)2})"});
}
// Only the minor half of the axis does anything; the ranks of the major half are replicas.
TEST(Equivalence, OneSubAxisAlone) {
  expectEqual(groupedLlama, {1, 4, 0, R"(split "layers.*.mlp.down.weight" dim 0 over {"tp":(2)2})"});
}
// The comparison can fail: a mask or a reduction that does nothing is seen. (Padding is NaN in a lockstep run.)
TEST(Equivalence, WhatIsBrokenIsSeen) {
  for (const char *op : {"dist.all_reduce", "dist.mask"})
    EXPECT_GT(compareWithOneRank(fourHeadGpt, {2, 2, 0}, 4, 1, 1, op).value, 1e-3) << op;
}

// N08: with every parameter's state split, the norm is the root of the sum of squares of what each rank owns: that of
// one rank. (Here all_reduces join single numbers alone, so without them each rank would clip by its own norm.)
TEST(Equivalence, N08NormIsOfOwnedShards) {
  for (int64_t zero : {1, 2, 3}) {
    expectEqual(fourHeadGpt, {4, 1, zero});
    EXPECT_GT(compareWithOneRank(fourHeadGpt, {4, 1, zero}, 8, 1, 1, "dist.all_reduce").value, 1e-3) << zero;
  }
}
