// Layers over stages: even, conserved, refused with numbers.
#include "passes/Schedule/Stages.h"
#include "ScheduleTesting.h"

#include <algorithm>
#include <numeric>
#include <random>

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

TEST(Stages, PiecesOfSeveralChunks) {
  auto refusal = [](uint32_t layers, uint32_t stages, uint32_t chunks) {
    Faults faults;
    EXPECT_FALSE(checkPieces(layers, stages, chunks, faults));
    return text(faults);
  };
  Faults faults;
  EXPECT_TRUE(checkPieces(4, 2, 2, faults));
  EXPECT_EQ(refusal(3, 2, 2), "2 stages of 2 chunks are 4 pieces, which exceed layers 3; legal: 1 stage of 2 chunks, "
                              "or 2 stages of 1 chunk under a schedule of one\n");
  EXPECT_EQ(refusal(8, 3, 4), "3 stages of 4 chunks are 12 pieces, which exceed layers 8; legal: 1..2 stages of 4 "
                              "chunks, or 3 stages of 1..2 chunks\n");
  EXPECT_EQ(refusal(3, 4, 2), "4 stages of 2 chunks are 8 pieces, which exceed layers 3; legal: 1 stage of 2 chunks\n");
  EXPECT_EQ(refusal(1, 2, 2), "2 stages of 2 chunks are 4 pieces, which exceed layers 1; legal: 1 stage of 1 chunk\n");
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

std::vector<uint32_t> balanced(const std::vector<double> &costs, const std::vector<uint32_t> &places) {
  Faults faults;
  std::optional<std::vector<uint32_t>> sizes = balancedStages(costs, places, faults);
  EXPECT_TRUE(sizes.has_value()) << text(faults);
  return sizes.value_or(std::vector<uint32_t>());
}

TEST(Stages, BalancedByCost) {
  EXPECT_EQ(balanced({3, 1, 1, 3}, {0, 1}), (std::vector<uint32_t>{2, 2}));
  EXPECT_EQ(balanced({5, 1, 1, 1, 1}, {0, 1}), (std::vector<uint32_t>{1, 4}));
  // An expensive head behind eight equal layers.
  EXPECT_EQ(balanced({1, 1, 1, 1, 1, 1, 1, 4}, {0, 1, 2}), (std::vector<uint32_t>{4, 3, 1}));
  for (uint32_t layers : {7u, 30u, 40u, 46u})
    for (uint32_t stages : {1u, 2u, 4u, 7u}) {
      std::vector<uint32_t> places(stages);
      std::iota(places.begin(), places.end(), 0);
      Faults faults;
      EXPECT_EQ(balanced(std::vector<double>(layers, 0.1), places), *evenStages(layers, stages, faults));
    }
  Faults faults;
  EXPECT_FALSE(balancedStages({1, 1}, {0, 1, 2}, faults));
  EXPECT_EQ(text(faults), "stages 3 exceed layers 2; legal: 1..2\n");
}

/// The cost of the costliest stage, tried with every cut.
double leastByTrying(const std::vector<double> &costs, const std::vector<uint32_t> &places, size_t piece, size_t layer,
                     std::vector<double> loads) {
  if (piece == places.size())
    return layer == costs.size() ? *std::max_element(loads.begin(), loads.end()) : 1e300;
  double least = 1e300;
  for (size_t end = layer + 1; end <= costs.size(); ++end) {
    loads[places[piece]] += costs[end - 1];
    least = std::min(least, leastByTrying(costs, places, piece + 1, end, loads));
  }
  return least;
}

// Against all cuts: the best for a chain, and for a V never more than a layer's cost above it.
TEST(Stages, BalancedIsTheLeastThereIs) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round)
    for (const std::vector<uint32_t> &places : {std::vector<uint32_t>{0, 1, 2}, {0, 1, 2, 3}, {0, 1, 1, 0}}) {
      std::vector<double> costs(6 + random() % 4);
      for (double &cost : costs)
        cost = 1 + random() % 9;
      uint32_t stages = *std::max_element(places.begin(), places.end()) + 1;
      std::vector<double> loads(stages, 0);
      size_t layer = 0;
      std::vector<uint32_t> sizes = balanced(costs, places);
      for (size_t k = 0; k < places.size(); ++k)
        for (uint32_t i = 0; i < sizes[k]; ++i)
          loads[places[k]] += costs[layer++];
      double found = *std::max_element(loads.begin(), loads.end());
      double least = leastByTrying(costs, places, 0, 0, std::vector<double>(stages, 0));
      EXPECT_EQ(layer, costs.size());
      EXPECT_LE(found, least + (places.size() > stages ? *std::max_element(costs.begin(), costs.end()) : 1e-9));
    }
}

} // namespace
} // namespace hocket::schedule
