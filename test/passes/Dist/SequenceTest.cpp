// Sequence and context parallelism never change what a model computes: tiny models in float64, against one rank.
#include "test/passes/Dist/PlanRuns.h"
#include <gtest/gtest.h>
using namespace hocket::testing;

namespace {
constexpr double tolerance = 1e-9;

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}
/// The model with sequences of another length.
struct Longer {
  std::string text;
  TestModel model;
  Longer(const TestModel &from, int64_t sequence,
         const std::vector<std::pair<std::string, std::string>> &further = {}) {
    std::string before = std::to_string(from.sequence), after = std::to_string(sequence);
    text = replaced(replaced(from.text, "?x" + before + "x", "?x" + after + "x"), "tensor<" + before + "x8xf32>",
                    "tensor<" + after + "x8xf32>");
    for (auto &[a, b] : further)
      text = replaced(text, a, b);
    model = {from.name, text.c_str(), sequence, from.vocabulary};
  }
};
const Longer gpt(fourHeadGpt, 16), llama(groupedLlama, 16);
const Longer windows(groupedLlama, 16, {{"causal", "causal window(5) softcap(2.0)"}});

std::string tactics(bool sequence, const std::string &context, const std::string &keep = "") {
  return std::string("split megatron over \"tp\"\n") + (sequence ? "sequence over \"tp\"" + keep + "\n" : "") +
         (context.empty() ? "" : "context over \"cp\" " + context);
}
void expectEqual(const TestModel &model, TestPlan plan) {
  WorstDifference worst = compareWithOneRank(model, plan, 2 * plan.dp, 2, 2);
  EXPECT_LE(worst.value, tolerance) << plan.text() << worst.name;
}
TestPlan planOf(int64_t dp, int64_t cp, int64_t tp, int64_t zero, const std::string &splits) {
  TestPlan plan{dp, tp, zero, splits};
  plan.cp = cp;
  return plan;
}
} // namespace

TEST(Sequence, OverTp) {
  for (const Longer *each : {&gpt, &llama})
    for (int64_t tp : {2, 4})
      for (const char *keep : {"", " keep gathered"})
        expectEqual(each->model, planOf(2, 1, tp, tp == 4, tactics(true, "", keep)));
}
TEST(Sequence, Ring) {
  for (const Longer *each : {&gpt, &llama, &windows})
    for (int64_t cp : {2, 4})
      expectEqual(each->model, planOf(cp == 2 ? 2 : 1, cp, 1, 0, tactics(false, "ring")));
}
TEST(Sequence, AllGather) {
  for (const Longer *each : {&gpt, &llama, &windows})
    for (int64_t cp : {2, 4})
      expectEqual(each->model, planOf(cp == 2 ? 2 : 1, cp, 1, 0, tactics(false, "all_gather")));
}
TEST(Sequence, AllToAll) {
  for (const Longer *each : {&gpt, &llama, &windows})
    for (int64_t cp : {2, 4})
      expectEqual(each->model, planOf(cp == 2 ? 2 : 1, cp, 1, 0, tactics(false, "all_to_all")));
}
TEST(Sequence, OverTpAndContext) {
  for (const Longer *each : {&gpt, &llama, &windows})
    for (const char *kind : {"ring", "all_gather", "all_to_all"})
      expectEqual(each->model, planOf(1, 2, 2, 1, tactics(true, kind)));
}
// Twelve ranks; and ZeRO's state split over both data axes.
TEST(Sequence, OddDegrees) {
  Longer twelve(fourHeadGpt, 12);
  expectEqual(twelve.model, planOf(1, 3, 2, 1, tactics(true, "ring")));
  expectEqual(twelve.model, planOf(2, 3, 1, 1, tactics(false, "all_gather")));
}
// Accumulators and parameters split over both data axes, gathered again for backward.
TEST(Sequence, WithZero) {
  for (int64_t zero : {2, 3})
    expectEqual(gpt.model, planOf(2, 2, 2, zero, tactics(true, zero == 2 ? "ring" : "all_to_all")));
  expectEqual(llama.model, planOf(1, 2, 4, 3, tactics(true, "ring")));
}
// More ranks than KV heads: two of the four take one KV head, and half of its query heads each.
TEST(Sequence, HeadsOverSubAxes) { expectEqual(llama.model, planOf(2, 4, 1, 1, tactics(false, "all_to_all"))); }
// The comparison can fail.
TEST(Sequence, WhatIsBrokenIsSeen) {
  TestPlan plan = planOf(1, 2, 1, 0, tactics(false, "ring"));
  EXPECT_GT(compareWithOneRank(gpt.model, plan, 2, 1, 1, "dist.shift").value, 1e-3);
}
