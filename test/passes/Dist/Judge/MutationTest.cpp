// The judge refuses every mutant of a partitioned model whose result differs; the interpreter says which do.
#include "test/passes/Dist/Judge/Rewrites.h"
#include "test/passes/Dist/Judge/Subject.h"
#include <gtest/gtest.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::testing;

namespace {
struct Tally {
  int made = 0, refused = 0, harmless = 0;
};

/// One mutant for each op that `mutate` fits. Those that the judge lets pass must compute the same.
Tally mutateEachOp(const Subject &subject, Rewrite mutate, const char *name) {
  Tally tally;
  size_t count = opsOf(*subject.copy()).size();
  for (size_t i = 0; i < count; ++i) {
    OwningOpRef<ModuleOp> module = subject.copy();
    Operation *op = opsOf(*module)[i];
    std::string text = op->getName().getStringRef().str() + " of '" + nn::getPath(op).str() + "'";
    if (!mutate(op))
      continue;
    ++tally.made;
    if (!Subject::accepts(*module)) {
      ++tally.refused;
      continue;
    }
    ++tally.harmless;
    EXPECT_TRUE(subject.runsAlike(*module)) << name << " " << text << " (op " << i << ") changes the result";
  }
  return tally;
}

struct Mutation {
  const char *name;
  Rewrite rewrite;
  bool alwaysRefused; ///< else some are harmless, as a reduction moved past a linear op is
};
const Mutation mutations[] = {
    {"drop", drop, true},
    {"repeat", repeat, true},
    {"swap axes", swapAxes, true},
    {"swap reduction", swapReduction, true},
    {"other mask value", otherMaskValue, true},
    {"shorter dimension", shorterDimension, true},
    {"drop offset", dropOffset, true},
    {"move past first user", movePastFirstUser, false},
    {"move past last user", movePastLastUser, false},
    {"wrong partial", wrongPartial, true},
};

void mutateAll(const TestModel &model, const TestPlan &plan) {
  Subject subject(model, plan);
  ASSERT_TRUE(subject.compiled());
  std::string said;
  ASSERT_TRUE(Subject::accepts(*subject.copy(), &said)) << said;
  ASSERT_TRUE(subject.runsAlike(*subject.copy()));
  int made = 0;
  for (const Mutation &mutation : mutations) {
    Tally tally = mutateEachOp(subject, mutation.rewrite, mutation.name);
    EXPECT_GT(tally.refused, 0) << mutation.name;
    if (mutation.alwaysRefused) {
      EXPECT_EQ(tally.harmless, 0) << mutation.name;
    }
    made += tally.made;
  }
  EXPECT_GT(made, 200);
}
} // namespace

// Vocabulary 13 over 2: masks, offsets; optimizer state split over dp.
TEST(Mutation, Gpt) { mutateAll(fourHeadGpt, {2, 2, 1}); }
// Two KV heads, gated feed-forward, untied head of 11 columns over 2.
TEST(Mutation, Llama) { mutateAll(groupedLlama, {2, 2, 1}); }

// Gradients go over the data axes in bf16, rounded before the sum: a cast that needs the sum may not stand there. Each
// of the parameters has one such cast; one of a whole value may say `summands` or not.
TEST(Mutation, CastsStandOnTheirSideOfTheSum) {
  TestPlan plan{2, 2, 1};
  plan.precision = "params bf16 compute bf16 accumulate f32 reduce bf16 master f32";
  Subject subject(fourHeadGpt, plan);
  ASSERT_TRUE(subject.compiled());
  int gradients = 0;
  OwningOpRef<ModuleOp> module = subject.copy();
  for (auto slot : stepOf(*module).getSlots().front().getOps<nn::SlotOp>())
    gradients += slot.getKind() == nn::SlotKind::FirstMoment;
  Tally casts = mutateEachOp(subject, otherCast, "other cast");
  EXPECT_EQ(casts.refused, gradients);
  EXPECT_GT(casts.harmless, gradients); // to f32 after the sum, to bf16 after the update
  Tally drops = mutateEachOp(subject, drop, "drop");
  EXPECT_GT(drops.refused, gradients);
  EXPECT_EQ(drops.harmless, 0);
}

// The measure itself: mutants that the judge refuses do change the result, most of them.
TEST(Mutation, RefusedMutantsAreWrong) {
  Subject subject(fourHeadGpt, {2, 2, 1});
  ASSERT_TRUE(subject.compiled());
  int wrong = 0, all = 0;
  for (size_t i = 0, count = opsOf(*subject.copy()).size(); i < count; ++i) {
    OwningOpRef<ModuleOp> module = subject.copy();
    if (!drop(opsOf(*module)[i]))
      continue;
    ++all;
    wrong += !subject.runsAlike(*module);
  }
  EXPECT_GT(all, 20);
  EXPECT_GT(wrong * 10, all * 8);
}
