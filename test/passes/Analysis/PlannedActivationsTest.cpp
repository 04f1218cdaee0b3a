// What a plan keeps of a GPT's layer, to the byte: the closed form, in words of the plan's type, less what is never
// stored.
#include "passes/Analysis/ActivationMemory.h"
#include "passes/Step/MemoryBreakdown.h"
#include "tools/hocket/Lowering.h"
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
using namespace hocket;
using namespace hocket::tools;
using analysis::ActivationTerm;
using analysis::LayerSizes;

namespace {
/// GPT-2 with other sizes: s 64, h 128, 4 heads of 32, feed-forward 4 h, 512 tokens, 3 layers.
std::string smallGpt(bool dropout) {
  std::ifstream file(HOCKET_EXAMPLES_DIR "/gpt2-124m/model.mlir");
  std::stringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  text = text.substr(0, text.find("dist.mesh"));
  for (auto [from, to] : {std::pair("1024", "64"),
                          {"3072", "512"},
                          {"768", "128"},
                          {"12x64", "4x32"},
                          {"50257", "512"},
                          {"(%x, %pos) 12 as", "(%x, %pos) 3 as"}})
    replace(from, to);
  if (dropout) {
    replace("%p = add %p0", "%p1 = add %p0");
    replace("  %r = add %x, %p :",
            "  %p = dropout %p1 at %pos rate(0.1) : tensor<?x64x128xf32>, tensor<?x64xi32> -> tensor<?x64x128xf32>\n"
            "  %r = add %x, %p :");
    replace("%o = add %o0", "%o1 = add %o0");
    replace("  %y = add %r, %o :",
            "  %o = dropout %o1 at %pos rate(0.1) : tensor<?x64x128xf32>, tensor<?x64xi32> -> tensor<?x64x128xf32>\n"
            "  %y = add %r, %o :");
  }
  return text;
}

struct Plan {
  int64_t rows = 1, tensor = 1;
  bool sequenceParallel = false, dropout = false;
  LayerSizes layer() const { return {64, rows, 128, 4, tensor, sequenceParallel}; }
};

/// Bytes that the second of the three layers holds in a slot where it is fullest.
int64_t planned(const Plan &plan) {
  std::string path = ::testing::TempDir() + "planned-activations.mlir";
  std::ofstream(path) << smallGpt(plan.dropout);
  Session session;
  ModelFile model{path, {}};
  PlanFlags flags;
  flags.mesh = plan.tensor > 1 ? "tp=" + std::to_string(plan.tensor) : "dp=1";
  flags.microbatch = plan.rows;
  flags.sequenceParallel = plan.sequenceParallel;
  auto job = openJob(session, model, flags);
  if (!job)
    return -1;
  auto module = lower(session, job->choice, job->shape, Layer::Kernels);
  if (!module)
    return -1;
  for (auto program : module->getOps<step::ProgramOp>())
    for (const auto &part : step::memoryBreakdown(program).parts)
      if (part.layer == "h.1")
        return part.bytes.at(step::MemoryClass::Activation);
  return -1;
}

int64_t sumOf(const LayerSizes &layer, ActivationTerm::Kind kind, int64_t elementBytes) {
  int64_t sum = 0;
  for (const ActivationTerm &term : activationTerms(layer, analysis::Recomputed::None))
    sum += term.kind == kind ? term.elements * elementBytes : 0;
  return sum;
}

/// The closed form where words have 4 bytes instead of 2; masks keep their byte.
int64_t closedForm(const LayerSizes &layer) {
  return sumOf(layer, ActivationTerm::Kind::Value, 4) + sumOf(layer, ActivationTerm::Kind::Scores, 4) +
         sumOf(layer, ActivationTerm::Kind::Mask, 1);
}
// Terms that the plan does not have …
int64_t masksNeverStored(const LayerSizes &layer) { return sumOf(layer, ActivationTerm::Kind::Mask, 1); }
int64_t scoresNeverStored(const LayerSizes &layer) { return sumOf(layer, ActivationTerm::Kind::Scores, 4); }
// … and the one that blocked attention has instead: a number for each row of probabilities.
int64_t logSumExp(const LayerSizes &layer) { return 4 * layer.heads * layer.sequence * layer.sequences / layer.tensor; }
int64_t expected(const LayerSizes &layer) {
  return closedForm(layer) - masksNeverStored(layer) - scoresNeverStored(layer) + logSumExp(layer);
}

TEST(PlannedActivations, OneRank) {
  for (int64_t rows : {1, 2, 4}) {
    Plan plan{rows};
    EXPECT_EQ(planned(plan), expected(plan.layer())) << rows;
  }
}
TEST(PlannedActivations, TensorParallel) {
  Plan plan{2, 2};
  EXPECT_EQ(planned(plan), expected(plan.layer()));
}
TEST(PlannedActivations, SequenceParallel) {
  Plan plan{2, 2, true};
  EXPECT_EQ(planned(plan), expected(plan.layer()));
}
/// NVIDIA/Megatron-LM #1225: selective recomputation was to save 5 a s / h of 34 + 5 a s / h and saved next to nothing,
/// because blocked attention had never stored those bytes. Here a plan that recomputes nothing keeps just what
/// selective recomputation would leave of the closed form, but for masks and one number a row of scores.
TEST(PlannedActivations, SelectiveRecomputationHasNoScoresToSave) {
  LayerSizes layer = Plan{2}.layer();
  int64_t left = closedForm(layer) - sumOf(layer, ActivationTerm::Kind::Scores, 4);
  for (const ActivationTerm &term : activationTerms(layer, analysis::Recomputed::None))
    left -= term.kind == ActivationTerm::Kind::Mask ? term.bytes() : 0;
  EXPECT_EQ(planned({2}) - left, logSumExp(layer));
  EXPECT_GT(scoresNeverStored(layer), 0);
}
/// Masks are made again from their counters: with dropout a layer keeps not a byte more.
TEST(PlannedActivations, MasksAreNeverStored) {
  EXPECT_EQ(planned({2, 1, false, true}), planned({2}));
  EXPECT_GT(masksNeverStored(Plan{2}.layer()), 0);
}
} // namespace
