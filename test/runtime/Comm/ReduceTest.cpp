// bf16 and f16 conversions, over all their values.
#include "runtime/Comm/Half.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace hocket::runtime;
namespace {

// Every value of the type goes to f32 and back, and what lies halfway between two neighbours goes to the even one.
template <class Half> void checkAll(Half (*round)(float), uint16_t infinity) {
  for (uint32_t bits = 0; bits < infinity; ++bits) {
    Half half{static_cast<uint16_t>(bits)};
    float value = toFloat(half);
    ASSERT_EQ(round(value).bits, bits);
    ASSERT_EQ(round(-value).bits, bits | 0x8000);
    if (bits + 1u == infinity)
      break;
    float next = toFloat(Half{static_cast<uint16_t>(bits + 1)});
    float middle = value + (next - value) / 2;
    ASSERT_EQ(round(middle).bits, bits + (bits & 1)) << bits;
    ASSERT_EQ(round(std::nextafter(middle, value)).bits, bits) << bits;
    ASSERT_EQ(round(std::nextafter(middle, next)).bits, bits + 1) << bits;
  }
  EXPECT_EQ(round(INFINITY).bits, infinity);
  EXPECT_TRUE(std::isinf(toFloat(Half{infinity})));
  EXPECT_TRUE(std::isnan(toFloat(round(NAN))));
}

TEST(Half, BFloat16RoundsToNearestEven) {
  checkAll<BFloat16>(toBFloat16, 0x7f80);
  EXPECT_EQ(toBFloat16(3.4028235e38f).bits, 0x7f80);
  EXPECT_EQ(toFloat(BFloat16{0x3f80}), 1.0f);
}

TEST(Half, Float16RoundsToNearestEven) {
  checkAll<Float16>(toFloat16, 0x7c00);
  EXPECT_EQ(toFloat16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(toFloat16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(toFloat(Float16{0x3c00}), 1.0f);
  EXPECT_EQ(toFloat(Float16{0x0001}), 0x1p-24f);
}

} // namespace
