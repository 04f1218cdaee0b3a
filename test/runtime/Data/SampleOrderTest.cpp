// The order of samples.
#include "runtime/Data/SampleOrder.h"
#include <gtest/gtest.h>
#include <set>
using namespace hocket::runtime;

TEST(SampleOrder, EachEpochIsAPermutation) {
  for (uint64_t n : {1, 2, 3, 5, 64, 65, 1000, 4097}) {
    SampleOrder order(1234, n);
    for (uint64_t epoch : {0, 1, 7}) {
      std::set<uint64_t> seen;
      for (uint64_t i = 0; i < n; ++i)
        seen.insert(order.permuted(epoch, i));
      EXPECT_EQ(seen.size(), n);
      EXPECT_EQ(*seen.rbegin(), n - 1);
    }
  }
}

TEST(SampleOrder, DependsOnSeedAndEpoch) {
  constexpr uint64_t n = 1000;
  SampleOrder a(1, n), b(2, n);
  int sameSeed = 0, sameEpoch = 0, fixed = 0;
  for (uint64_t i = 0; i < n; ++i) {
    sameSeed += a.permuted(0, i) == b.permuted(0, i);
    sameEpoch += a.permuted(0, i) == a.permuted(1, i);
    fixed += a.permuted(0, i) == i;
    EXPECT_EQ(a.sample(n + i), a.permuted(1, i));
  }
  // Two random permutations agree in one place on average.
  EXPECT_LT(sameSeed, 10);
  EXPECT_LT(sameEpoch, 10);
  EXPECT_LT(fixed, 10);
}

TEST(SampleOrder, PlacesAreSpreadEvenly) {
  // Mean of where the first 100 of 1000 land, over 50 epochs: 499.5 with a standard deviation of 4.
  SampleOrder order(9, 1000);
  double sum = 0;
  for (uint64_t epoch = 0; epoch < 50; ++epoch)
    for (uint64_t i = 0; i < 100; ++i)
      sum += static_cast<double>(order.permuted(epoch, i));
  EXPECT_NEAR(sum / 5000, 499.5, 20);
}

TEST(SampleOrder, SequentialIsTheOrderOfTheFile) {
  SampleOrder order = SampleOrder::sequential(5);
  for (uint64_t i = 0; i < 20; ++i)
    EXPECT_EQ(order.sample(i), i % 5);
}
