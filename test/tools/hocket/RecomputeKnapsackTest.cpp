// The choice of what to make again against all choices.
#include "tools/hocket/RecomputeKnapsack.h"
#include <gtest/gtest.h>
#include <random>
using namespace hocket::tools;

namespace {
using Units = std::vector<std::vector<UnitChoice>>;

Units randomUnits(std::mt19937 &random) {
  Units units(5);
  for (size_t i = 0; i < units.size(); ++i) {
    if (i % 2) { // alike
      units[i] = units[i - 1];
      continue;
    }
    units[i].push_back({});
    for (int choice = 0; choice < 3; ++choice)
      units[i].push_back({random() % 50, random() % 50});
  }
  return units;
}

UnitChoice sumOf(const Units &units, const std::vector<unsigned> &chosen) {
  UnitChoice sum;
  for (size_t i = 0; i < units.size(); ++i) {
    sum.savedBytes += units[i][chosen[i]].savedBytes;
    sum.flops += units[i][chosen[i]].flops;
  }
  return sum;
}

/// The fewest flops of all combinations that save enough; none if none does.
std::optional<uint64_t> leastOf(const Units &units, uint64_t need) {
  std::optional<uint64_t> least;
  std::vector<unsigned> chosen(units.size());
  for (unsigned number = 0; number < 1024; ++number) {
    for (size_t i = 0; i < units.size(); ++i)
      chosen[i] = number >> 2 * i & 3;
    UnitChoice sum = sumOf(units, chosen);
    if (sum.savedBytes >= need && (!least || sum.flops < *least))
      least = sum.flops;
  }
  return least;
}
} // namespace

TEST(RecomputeKnapsack, TakesTheFewestFlopsOfAllCombinations) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Units units = randomUnits(random);
    uint64_t need = random() % 250;
    auto least = leastOf(units, need);
    auto chosen = cheapestChoices(units, need);
    ASSERT_EQ(chosen.has_value(), least.has_value());
    if (!chosen)
      continue;
    EXPECT_EQ(sumOf(units, *chosen).flops, *least);
    EXPECT_GE(sumOf(units, *chosen).savedBytes, need);
  }
}

TEST(RecomputeKnapsack, NothingIsMadeAgainWhereNothingIsNeeded) {
  EXPECT_EQ(cheapestChoices({{{}, {10, 1}}, {{}, {10, 1}}}, 0), (std::vector<unsigned>{0, 0}));
}

TEST(RecomputeKnapsack, AlikeUnitsGetTheirChoicesFromEitherEnd) {
  Units units(3, {{}, {10, 1}, {30, 5}});
  std::vector<unsigned> chosen{0, 2, 1};
  arrangeAlike(units, /*dearestFirst=*/true, chosen);
  EXPECT_EQ(chosen, (std::vector<unsigned>{2, 1, 0}));
  arrangeAlike(units, /*dearestFirst=*/false, chosen);
  EXPECT_EQ(chosen, (std::vector<unsigned>{0, 1, 2}));
}
