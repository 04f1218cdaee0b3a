// The judge refuses every mutant of a partitioned model whose result differs; the interpreter says which do.
#include "test/passes/Dist/Judge/Rewrites.h"
#include "test/passes/Dist/Judge/Subject.h"
#include "test/passes/Dist/Judge/Subjects.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <gtest/gtest.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::testing;

namespace {
bool isLong() { return std::getenv("HOCKET_LONG") != nullptr; }

struct Tally {
  int made = 0, refused = 0, harmless = 0;
  int wrong = 0;    ///< change the result, as the interpreter says
  int measured = 0; ///< that were run
  void add(const Tally &other) {
    made += other.made, refused += other.refused, harmless += other.harmless;
    wrong += other.wrong, measured += other.measured;
  }
};

/// One mutant for each op, or each `every`-th of those, that `mutate` fits. Those that the judge lets pass must compute
/// the same; with `measure` those that it refuses are run too.
Tally mutateEachOp(const Subject &subject, Rewrite mutate, const std::string &name, int every = 1,
                   bool measure = false) {
  Tally tally;
  int fitting = 0;
  size_t count = opsOf(*subject.copy()).size();
  OwningOpRef<ModuleOp> module;
  SmallVector<Operation *> ops;
  for (size_t i = 0; i < count; ++i) {
    if (!module) {
      module = subject.copy();
      ops = opsOf(*module);
    }
    Operation *op = ops[i];
    std::string text = op->getName().getStringRef().str() + " of '" + nn::getPath(op).str() + "'";
    if (!mutate(op))
      continue; // and has changed nothing
    OwningOpRef<ModuleOp> mutant = std::move(module);
    if (fitting++ % every)
      continue;
    ++tally.made;
    bool accepted = Subject::accepts(*mutant);
    ++(accepted ? tally.harmless : tally.refused);
    if (!accepted && !measure)
      continue;
    ++tally.measured;
    bool alike = Subject::hasMeaning(*mutant) && subject.runsAlike(*mutant);
    tally.wrong += !alike;
    EXPECT_TRUE(alike || !accepted) << name << " " << text << " (op " << i << ") changes the result";
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
    {"one axis less", oneAxisLess, true},
    {"one axis more", oneAxisMore, true},
    {"other dimension", otherDimension, true},
    {"exchange backwards", exchangeBackwards, true},
    {"join too early", joinTooEarly, true},
    {"drop and claim", dropAndClaim, true},
    {"slice before join", sliceBeforeJoin, true},
    {"ring step less", ringStep, false},
    {"ring step more", ringStepTwice, false},
};

Tally mutateAll(const Case &on, int every, bool measure) {
  Subject subject(*on.model, on.plan);
  Tally all;
  EXPECT_TRUE(subject.compiled()) << on.name;
  if (!subject.compiled())
    return all;
  std::string said;
  EXPECT_TRUE(Subject::accepts(*subject.copy(), &said)) << on.name << ": " << said;
  EXPECT_TRUE(subject.runsAlike(*subject.copy())) << on.name;
  for (const Mutation &mutation : mutations) {
    Tally tally = mutateEachOp(subject, mutation.rewrite, std::string(on.name) + ": " + mutation.name, every, measure);
    if (mutation.alwaysRefused) {
      EXPECT_EQ(tally.harmless, 0) << on.name << ": " << mutation.name;
    }
    if (measure)
      llvm::outs() << llvm::formatv("{0,-14} {1,-22} {2,5} mutants, {3,5} change the result, {4,5} refused\n", on.name,
                                    mutation.name, tally.made, tally.wrong, tally.refused);
    all.add(tally);
  }
  return all;
}

std::string nameOf(const ::testing::TestParamInfo<const Case *> &info) { return info.param->name; }
class Mutants : public ::testing::TestWithParam<const Case *> {};
} // namespace

// Every eighth mutant; all of them, run too, with HOCKET_LONG.
TEST_P(Mutants, ThatChangeTheResultAreRefused) {
  Tally all = mutateAll(*GetParam(), isLong() ? 1 : 8, isLong());
  EXPECT_GT(all.refused, 10);
  if (isLong())
    llvm::outs() << llvm::formatv("{0}: {1} mutants, {2} change the result, {3} refused, {4} accepted\n",
                                  GetParam()->name, all.made, all.wrong, all.refused, all.harmless);
  RecordProperty("mutants", all.made);
  RecordProperty("refused", all.refused);
}
INSTANTIATE_TEST_SUITE_P(Plans, Mutants, ::testing::ValuesIn(everyCase()), nameOf);

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
