// The loss scale: its rule (case F01), what a skipped step leaves alone, and that it changes no parameter otherwise.
#include "test/passes/Interpreter/TinyModels.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
using namespace hocket;
using namespace hocket::interpreter;
using namespace hocket::testing;
using nn::HostTensor;
using nn::SlotKind;

namespace {
constexpr const char *half = "params f16 compute f16 accumulate f32 master f32";

/// A tiny GPT with the loss scale `entry`, and one batch.
struct ScaledRun {
  Program program;
  std::unique_ptr<Interpreter> runner;

  explicit ScaledRun(const std::string &entry, const char *precision = half)
      : program(compile(recipeFor(tinyGpt, 4, entry, precision), 2)) {
    if (!program.step)
      return;
    runner = std::make_unique<Interpreter>(program.step);
    runner->initialize(7);
  }
  explicit operator bool() const { return bool(runner); }
  StepResult train(unsigned batch = 1) {
    auto result = runner->train(randomBatch(2, 2, 5, 11, batch));
    EXPECT_TRUE(mlir::succeeded(result));
    return mlir::succeeded(result) ? *result : StepResult();
  }
  double number(const char *name) { return (*runner->state(SlotKind::State, name))[0]; }
  HostTensor get(SlotKind kind, const std::string &name) { return *runner->state(kind, name); }
  void set(const HostTensor &table) { // parameter and master are one number in two types
    EXPECT_TRUE(runner->setState(SlotKind::Param, "wte", table));
    EXPECT_TRUE(runner->setState(SlotKind::Master, "wte", table));
  }
  /// One step whose gradients are not finite: the parameter is infinite for as long.
  StepResult overflow() {
    HostTensor kept = get(SlotKind::Param, "wte"), infinite(kept.shape, std::numeric_limits<double>::infinity());
    set(infinite);
    StepResult result = train();
    EXPECT_EQ(get(SlotKind::Param, "wte").data, infinite.data);
    set(kept);
    return result;
  }
};

void expectSameState(ScaledRun &a, ScaledRun &b) {
  for (const std::string &name : a.runner->parameters(/*trainedOnly=*/true))
    for (SlotKind kind : {SlotKind::Param, SlotKind::Master, SlotKind::FirstMoment, SlotKind::SecondMoment})
      EXPECT_EQ(a.get(kind, name).data, b.get(kind, name).data) << stringifySlotKind(kind).str() << " " << name;
}
} // namespace

// F01: initial 2^16, hysteresis 2, floor 1, every step overflows. 17 skipped steps, the 18th cannot go on.
TEST(LossScale, F01DynamicScaleFloor) {
  ScaledRun run("loss_scale dynamic(initial = 65536, hysteresis = 2, floor = 1)"), still("loss_scale dynamic");
  ASSERT_TRUE(run && still);
  for (int step = 1; step <= 17; ++step) {
    StepResult result = run.overflow();
    EXPECT_EQ(result.skipped, 1) << step;
    EXPECT_EQ(result.exhausted, 0) << step;
    EXPECT_EQ(run.number("loss_scale"), std::ldexp(1, 17 - step)) << step;
  }
  StepResult last = run.overflow();
  EXPECT_EQ(last.lossScale, 1);
  EXPECT_EQ(last.skipped, 1);
  EXPECT_EQ(last.exhausted, 1);
  EXPECT_EQ(run.number("updates"), 0);
  expectSameState(run, still);
}

TEST(LossScale, GrowsAfterGoodStepsAndGivesItsChancesBack) {
  ScaledRun run(
      "loss_scale dynamic(initial = 8, growth = 4, backoff = 0.25, interval = 2, hysteresis = 2, floor = 0.5)");
  ASSERT_TRUE(run);
  auto expect = [&](double scale, double good, double chances) {
    EXPECT_EQ(run.number("loss_scale"), scale);
    EXPECT_EQ(run.number("good_steps"), good);
    EXPECT_EQ(run.number("hysteresis"), chances);
  };
  run.train();
  expect(8, 1, 2);
  run.overflow(); // the first of two chances
  expect(8, 0, 1);
  run.overflow();
  expect(2, 0, 1);
  run.train();
  expect(2, 1, 1);
  run.train();
  expect(8, 0, 2);
  run.overflow();
  expect(8, 0, 1);
  for (double scale : {2.0, 0.5}) {
    EXPECT_EQ(run.overflow().exhausted, 0);
    expect(scale, 0, 1);
  }
  EXPECT_EQ(run.overflow().exhausted, 1); // no lower than the floor
  expect(0.5, 0, 1);
}

// Parameters, masters, moments, learning rate and count of updates are those of a run without the skipped steps.
TEST(LossScale, SkippedStepsLeaveNoTrace) {
  for (const char *entry : {"loss_scale static(1024)", "loss_scale dynamic(backoff = 0.5)"}) {
    ScaledRun skips(entry), never(entry);
    ASSERT_TRUE(skips && never);
    skips.overflow();
    skips.train(1);
    never.train(1);
    skips.overflow();
    StepResult found = skips.train(2), expected = never.train(2);
    EXPECT_EQ(found.learningRate, expected.learningRate) << entry;
    EXPECT_EQ(skips.number("updates"), 2) << entry;
    EXPECT_NEAR(found.gradNorm, expected.gradNorm, 1e-12) << entry;
    if (entry[11] == 's') // the dynamic scale has moved, and with it the last bits
      expectSameState(skips, never);
  }
}

// Without rounding a scale is nothing but a factor that is taken off again.
TEST(LossScale, ScaleItselfChangesNothing) {
  ScaledRun scaled("loss_scale static(1000)"), plain("", "params f32 compute f32 accumulate f32");
  ASSERT_TRUE(scaled && plain);
  for (unsigned step = 1; step <= 3; ++step) {
    StepResult found = scaled.train(step), expected = plain.train(step);
    EXPECT_EQ(found.lossScale, 1000);
    EXPECT_EQ(found.skipped, 0);
    EXPECT_NEAR(found.loss, expected.loss, 1e-12);
    EXPECT_NEAR(found.gradNorm, expected.gradNorm, 1e-11);
    EXPECT_EQ(found.learningRate, expected.learningRate);
  }
  for (const std::string &name : plain.runner->parameters()) {
    HostTensor found = scaled.get(SlotKind::Param, name), expected = plain.get(SlotKind::Param, name);
    for (int64_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 1e-9) << name << " " << i;
  }
}
