// The generator of initial values: known answers of Philox, moments, and how the interpreter uses it.
#include "runtime/Program/Random.h"
#include "test/passes/Interpreter/TinyModels.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
using namespace hocket;
using namespace hocket::testing;

// The known answers that Random123 ships (kat_vectors, philox4x32 10).
TEST(Random, PhiloxGivesTheKnownAnswers) {
  using ::testing::ElementsAre;
  EXPECT_THAT(program::philox(0, 0, 0), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  uint64_t ones = ~uint64_t(0);
  EXPECT_THAT(program::philox(ones, ones, ones), ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(program::philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(Random, NormalNumbersHaveMeanZeroAndDeviationOne) {
  double sum = 0, squares = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    double x = program::standardNormal(1, program::streamOf("wte"), i);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / count, 0, 0.015); // 4.7 deviations
  EXPECT_NEAR(squares / count, 1, 0.02);
}

TEST(Random, InitialStateFollowsFromSeedNameAndElement) {
  Program program = compile(recipeFor(tinyGpt, 4), 2);
  ASSERT_TRUE(program.step);
  interpreter::Interpreter runner(program.step);
  runner.initialize(42);
  nn::HostTensor bias = *runner.state(nn::SlotKind::Param, "h.1.mlp.fc.bias");
  for (int64_t i = 0; i < bias.size(); ++i)
    EXPECT_EQ(bias[i], program::initialNormal(42, "h.1.mlp.fc.bias", i, 0.2));
  EXPECT_EQ(runner.state(nn::SlotKind::Param, "h.0.ln_1.weight")->data, std::vector<double>(8, 1.0));
  EXPECT_EQ(runner.state(nn::SlotKind::SecondMoment, "wte")->data, std::vector<double>(88, 0.0));
}
