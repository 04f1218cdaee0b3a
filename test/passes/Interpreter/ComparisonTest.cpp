// Differences of tensors, their report, and batches cut from a stream of tokens.
#include "passes/Interpreter/Comparison.h"
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
using namespace hocket::interpreter;
using hocket::nn::HostTensor;
using ::testing::ElementsAre;

namespace {
HostTensor tensor(std::vector<double> data) {
  HostTensor result;
  result.shape = {static_cast<int64_t>(data.size())};
  result.data = std::move(data);
  return result;
}
} // namespace

TEST(Comparison, IsRelativeToTheReference) {
  TensorDifference difference = differ("w", tensor({3, 4}), tensor({3, 4.5}));
  EXPECT_DOUBLE_EQ(difference.absolute, 0.5);
  EXPECT_DOUBLE_EQ(difference.reference, 5);
  EXPECT_DOUBLE_EQ(difference.relative, 0.1);
  EXPECT_EQ(differ("w", tensor({0, 0}), tensor({0, 0})).relative, 0);
}

TEST(Comparison, IsInfiniteForAnotherShapeOrWhatIsNotFinite) {
  EXPECT_TRUE(std::isinf(differ("w", tensor({1, 2}), tensor({1, 2, 3})).relative));
  EXPECT_TRUE(std::isinf(differ("w", tensor({1, 2}), tensor({1, NAN})).relative));
  EXPECT_TRUE(std::isinf(differ("w", tensor({0, 0}), tensor({0, 1})).relative));
}

TEST(Comparison, ReportsTheWorstFirst) {
  std::string text =
      reportText({differ("near", tensor({1}), tensor({1.001})), differ("far", tensor({1}), tensor({2}))});
  EXPECT_LT(text.find("far"), text.find("near"));
  EXPECT_NE(text.find("relative 1.000e+00"), std::string::npos) << text;
}

TEST(Batch, IsCutInOrderWithLabelsOneFurther) {
  int32_t tokens[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  Batch batch = cutBatch(tokens, /*first=*/1, /*microbatches=*/3, /*rows=*/1, /*sequence=*/2);
  EXPECT_THAT(batch.tokens.shape, ElementsAre(3, 1, 2));
  EXPECT_THAT(batch.tokens.data, ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_THAT(batch.labels.data, ElementsAre(3, 4, 5, 6, 7, 8));
}
