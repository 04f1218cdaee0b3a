// What a run says of a loss scale, and when it ends for it.
#include "runtime/Executor/LossScale.h"
#include "runtime/Executor/Poison.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace hocket::runtime;
namespace {

StepOutputs outputs(double scale, double skipped, double exhausted) {
  StepOutputs result{1, 1, 1, 1, 1, NAN, NAN, NAN};
  result.lossScale = scale, result.skipped = skipped, result.exhausted = exhausted;
  return result;
}

TEST(LossScale, IsReportedWhereThereIsOne) {
  nlohmann::json none, some;
  reportLossScale(none, outputs(NAN, NAN, NAN));
  EXPECT_TRUE(none.is_null());
  reportLossScale(some, outputs(65536, 1, 0));
  EXPECT_EQ(some.dump(), R"({"loss_scale":65536.0,"skipped":true})");
}

TEST(LossScale, EndsTheRunWhenItCannotFall) {
  EXPECT_TRUE(checkLossScale(outputs(NAN, NAN, NAN), 1));
  EXPECT_TRUE(checkLossScale(outputs(1, 1, 0), 17));
  Status ended = checkLossScale(outputs(1, 1, 1), 18);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::Invalid);
  EXPECT_EQ(ended.error().message, "step 18: the gradients overflow, and the loss scale is already at its floor of 1; "
                                   "parameters are as they were before this step");
}

TEST(Poison, SpoilsOneWeightGradientOfOneRankAtOneStep) {
  ::setenv(poisonVariable, "3@2", 1);
  auto build = [](bool accumulate) {
    flatbuffers::FlatBufferBuilder builder;
    hocket::program::InstructionT instruction;
    instruction.op = hocket::program::Op::Gemm;
    instruction.gemm = std::make_unique<hocket::program::Gemm>(false, false, accumulate, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0);
    builder.Finish(hocket::program::Instruction::Pack(builder, &instruction));
    return builder.Release();
  };
  auto first = build(false), second = build(true);
  auto at = [](const flatbuffers::DetachedBuffer &buffer) {
    return flatbuffers::GetRoot<hocket::program::Instruction>(buffer.data());
  };
  for (uint32_t rank : {2u, 3u}) {
    Poison poison = Poison::fromEnvironment(rank);
    EXPECT_TRUE(poison.due(*at(second), 1).empty()) << "another step";
    EXPECT_TRUE(poison.due(*at(first), 2).empty()) << "no weight gradient";
    std::string_view bytes = poison.due(*at(second), 2);
    ASSERT_EQ(bytes.size(), rank == 3 ? sizeof(float) : 0);
    if (rank == 3) {
      float value = 1;
      std::memcpy(&value, bytes.data(), sizeof value);
      EXPECT_EQ(value, INFINITY);
    }
    EXPECT_TRUE(poison.due(*at(second), 2).empty()) << "only once";
  }
  ::unsetenv(poisonVariable);
}

} // namespace
