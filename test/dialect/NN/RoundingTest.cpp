// Rounding to bf16 and f16: ties, subnormal numbers, the ends of the range.
#include "dialect/NN/Rounding.h"
#include "mlir/IR/Builders.h"
#include <cmath>
#include <gtest/gtest.h>
using namespace hocket::nn;

namespace {
struct Rounding : ::testing::Test {
  mlir::MLIRContext context;
  mlir::Builder types{&context};
  double bf16(double value) { return roundedTo(types.getBF16Type(), value); }
  double f16(double value) { return roundedTo(types.getF16Type(), value); }
};

TEST_F(Rounding, ToNearestAndTiesToEven) {
  EXPECT_EQ(bf16(257), 256); // case F05: 256 + 1 = 256
  EXPECT_EQ(bf16(259), 260);
  EXPECT_EQ(bf16(-257.0000001), -258);
  EXPECT_EQ(f16(2049), 2048);
  EXPECT_EQ(f16(2051), 2052);
  EXPECT_EQ(f16(1 + 0x1.8p-10), 1 + 0x1p-9);
}

TEST_F(Rounding, SubnormalNumbers) {
  EXPECT_EQ(bf16(0x1p-133), 0x1p-133);
  EXPECT_EQ(bf16(0x1p-134), 0);
  EXPECT_EQ(bf16(0x1.8p-133), 0x1p-132);
  EXPECT_EQ(f16(0x1p-24), 0x1p-24);
  EXPECT_EQ(f16(0x1p-25), 0);
  EXPECT_EQ(f16(0x1.000002p-25), 0x1p-24);
  EXPECT_TRUE(std::signbit(f16(-0x1p-26)));
}

TEST_F(Rounding, EndsOfTheRange) {
  EXPECT_EQ(f16(65504), 65504);
  EXPECT_EQ(f16(65519.9), 65504);
  EXPECT_EQ(f16(65520), INFINITY);
  EXPECT_EQ(bf16(-3.4e38), -INFINITY);
  EXPECT_EQ(bf16(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(bf16(NAN)));
  EXPECT_EQ(roundedTo(types.getF32Type(), 1 + 0x1p-25), 1);
  EXPECT_EQ(roundedTo(types.getF64Type(), 1 + 0x1p-25), 1 + 0x1p-25);
}
} // namespace
