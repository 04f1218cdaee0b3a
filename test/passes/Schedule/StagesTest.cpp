// Layers over stages: even, conserved, refused with numbers.
#include "passes/Schedule/Stages.h"
#include "ScheduleTesting.h"

namespace hocket::schedule {
namespace {

using Sizes = std::vector<uint32_t>;

Sizes even(uint32_t layers, uint32_t stages) {
  Faults faults;
  std::optional<Sizes> sizes = evenStages(layers, stages, faults);
  EXPECT_TRUE(sizes.has_value()) << text(faults);
  return sizes.value_or(Sizes());
}

std::string refusal(uint32_t layers, uint32_t stages) {
  Faults faults;
  EXPECT_FALSE(evenStages(layers, stages, faults).has_value());
  return text(faults);
}

// Megatron-LM issues 1304 (7 7 7 7 were built), 1303 (2 each), 381; ms-swift 5737.
TEST(Stages, EvenLongerFirst) {
  EXPECT_EQ(even(30, 4), (Sizes{8, 8, 7, 7}));
  EXPECT_EQ(even(7, 2), (Sizes{4, 3}));
  EXPECT_EQ(even(46, 4), (Sizes{12, 12, 11, 11}));
  EXPECT_EQ(even(40, 16), (Sizes{3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(even(5, 1), Sizes{5});
}

TEST(Stages, EvenSizesAreConserved) {
  for (uint32_t layers = 1; layers <= 40; ++layers)
    for (uint32_t stages = 1; stages <= layers; ++stages) {
      Faults faults;
      Sizes sizes = even(layers, stages);
      EXPECT_TRUE(checkStages(layers, sizes, faults)) << text(faults);
      EXPECT_LE(sizes.front() - sizes.back(), 1u);
      EXPECT_TRUE(std::is_sorted(sizes.rbegin(), sizes.rend()));
    }
}

TEST(Stages, ImpossibleCounts) {
  EXPECT_EQ(refusal(6, 9), "stages 9 exceed layers 6; legal: 1..6\n");
  EXPECT_EQ(refusal(6, 0), "stages is 0; legal: 1..6\n");
  EXPECT_EQ(refusal(0, 1), "the model has 0 layers; stages need at least 1\n");
}

// Megatron-LM issue 2718: 24 of 48 layers were ignored.
TEST(Stages, LostLayers) {
  Faults faults;
  EXPECT_FALSE(checkStages(48, {11, 13}, faults));
  EXPECT_FALSE(checkStages(20, {1}, faults));
  EXPECT_FALSE(checkStages(8, {4, 3}, faults));
  EXPECT_FALSE(checkStages(4, {3, 0, 3}, faults));
  EXPECT_EQ(text(faults), "stages hold 11 + 13 = 24 layers, the model has 48; layers 24..47 are on no stage\n"
                          "stages hold 1 layers, the model has 20; layers 1..19 are on no stage\n"
                          "stages hold 4 + 3 = 7 layers, the model has 8; layer 7 is on no stage\n"
                          "stages hold 3 + 0 + 3 = 6 layers, the model has 4; 2 too many\n"
                          "stage 1 holds 0 layers; legal: 1 or more\n");
}

} // namespace
} // namespace hocket::schedule
