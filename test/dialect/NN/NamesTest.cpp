// Patterns of parameter names, and the nearest name to a slip.
#include "dialect/NN/NN.h"
#include <gtest/gtest.h>
using namespace hocket::nn;

TEST(Names, OneStarIsOneComponent) {
  EXPECT_TRUE(matchesName("h.*.attn.qkv.weight", "h.3.attn.qkv.weight"));
  EXPECT_FALSE(matchesName("h.*.attn.qkv.weight", "h.3.x.attn.qkv.weight"));
  EXPECT_FALSE(matchesName("h.*.attn.qkv.weight", "h.attn.qkv.weight"));
  EXPECT_TRUE(matchesName("*", "wte"));
  EXPECT_FALSE(matchesName("*", "ln_f.weight"));
}

TEST(Names, TwoStarsAreAnyNumberOfComponents) {
  for (auto *name : {"h", "h.3", "h.3.attn"})
    EXPECT_TRUE(matchesName("h.**", name)) << name;
  EXPECT_FALSE(matchesName("h.**", "hx.3"));
  EXPECT_TRUE(matchesName("**.bias", "bias"));
  EXPECT_TRUE(matchesName("**.bias", "h.3.ln_1.bias"));
  EXPECT_FALSE(matchesName("**.bias", "h.3.bias.x"));
  EXPECT_TRUE(matchesName("**", "anything.at.all"));
}

TEST(Names, StarsGoBackOnTheirChoice) {
  EXPECT_TRUE(matchesName("**.a.*.b", "a.x.a.y.b"));
  EXPECT_TRUE(matchesName("**.a.**.b", "a.a.b.a.b"));
  EXPECT_FALSE(matchesName("**.a.*.b", "a.x.a.b"));
  EXPECT_TRUE(matchesName("**.**", "a"));
}

TEST(Names, LongNamesDoNotTakeExponentialTime) {
  std::string pattern = "**", name = "a";
  for (int i = 0; i < 60; ++i) {
    pattern += ".a.**";
    name += ".a";
  }
  EXPECT_FALSE(matchesName(pattern + ".b", name));
}

TEST(Names, APlainPatternIsTheNameItself) {
  EXPECT_TRUE(matchesName("h.3.w", "h.3.w"));
  EXPECT_FALSE(matchesName("h.3", "h.3.w"));
  EXPECT_FALSE(matchesName("h.3.w", "h.3"));
}

TEST(Names, NearestIsASlipAway) {
  EXPECT_EQ(nearestName("lyaer", {"layer", "head"}), "layer");
  EXPECT_EQ(nearestName("h.3.atn.weight", {"h.3.attn.weight", "h.3.mlp.weight"}), "h.3.attn.weight");
  EXPECT_EQ(nearestName("attention", {"layer", "head"}), "");
  EXPECT_EQ(nearestName("x", {"y"}), "") << "every letter wrong is no slip";
  EXPECT_EQ(nearestName("x", {}), "");
}

TEST(Names, KnownNamesAreListedWhereNoneIsNear) {
  EXPECT_EQ(knownNames("lyaer", {"layer", "head"}), " (nearest: layer)");
  EXPECT_EQ(knownNames("attention", {"layer", "head"}), " (known: layer, head)");
  EXPECT_EQ(knownNames("attention", {}), " (there is none)");
}

TEST(Names, NamesAreComponents) {
  for (auto *good : {"w", "h.3.ln_1.weight", "a-b.0"})
    EXPECT_TRUE(isName(good)) << good;
  for (auto *bad : {"", ".", "a.", ".a", "a..b", "a b", "a.*", "é"})
    EXPECT_FALSE(isName(bad)) << bad;
}
