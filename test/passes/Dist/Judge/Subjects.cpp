// The models and plans.
#include "test/passes/Dist/Judge/Subjects.h"

namespace hocket::testing {

static std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}
static TestModel withSequence(const TestModel &from, const char *name, std::string &text) {
  std::string before = std::to_string(from.sequence);
  text = replaced(replaced(from.text, "?x" + before + "x", "?x8x"), "tensor<" + before + "x8xf32>", "tensor<8x8xf32>");
  return {name, text.c_str(), 8, from.vocabulary};
}
static std::string gptText, llamaText;
// PlanRuns.cpp, whose models these are made of, stands before this file in the link, so they are there.
const TestModel longerGpt = withSequence(fourHeadGpt, "longer_gpt", gptText);
const TestModel longerLlama = withSequence(groupedLlama, "longer_llama", llamaText);

TestPlan planOf(int64_t dp, int64_t cp, int64_t tp, int64_t zero, std::string tactics) {
  TestPlan plan{dp, tp, zero, std::move(tactics)};
  plan.cp = cp;
  return plan;
}
static TestPlan zeroOf(int64_t stage, std::string options) {
  TestPlan plan{2, 2, stage};
  plan.zeroOptions = std::move(options);
  return plan;
}
static TestPlan expertsOverDp() {
  TestPlan plan{2, 1, 1, "experts over \"dp\""};
  plan.entries = "capacity 1\nauxiliary_loss 0.3";
  return plan;
}

const Case square{"square", &fourHeadGpt, {2, 2, 1}}, llamaSquare{"llama_square", &groupedLlama, {2, 2, 1}};
const Case wide{"wide", &fourHeadGpt, {1, 4, 0}}, narrow{"narrow", &fourHeadGpt, {1, 2, 0}};
const Case idle{"idle", &fourHeadGpt, {2, 2, 0, ""}}, llamaIdle{"llama_idle", &groupedLlama, {2, 2, 0}};
const Case sequenced{"sequenced", &longerGpt, planOf(1, 1, 4, 0, "split megatron over \"tp\"\nsequence over \"tp\"")};
const Case gathered{"gathered", &longerLlama, planOf(2, 2, 1, 1, "context over \"cp\" all_gather")};
const Case exchanged{"exchanged", &longerLlama, planOf(1, 2, 1, 0, "context over \"cp\" all_to_all")};
const Case ring{"ring", &longerLlama, planOf(1, 2, 1, 0, "context over \"cp\" ring")};
const Case experts{"experts", &fourExperts, expertsOverDp()};
const Case byHand{"by_hand", &tokensRegion, {2, 2, 1}};

const Case scattered{"zero2", &fourHeadGpt, zeroOf(2, "")}, perUse{"zero3", &groupedLlama, zeroOf(3, "gather per_use")};

const std::vector<const Case *> &everyCase() {
  static const std::vector<const Case *> all = {&square,    &llamaSquare, &wide,    &narrow, &sequenced, &gathered,
                                                &exchanged, &ring,        &experts, &byHand, &scattered, &perUse};
  return all;
}
} // namespace hocket::testing
