// The keyed permutation; contracts in SampleOrder.h.
#include "runtime/Data/SampleOrder.h"
#include <algorithm>
#include <bit>

namespace hocket::runtime {

// splitmix64's finaliser: every bit of the result depends on every bit of x.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

SampleOrder::SampleOrder(uint64_t seed, uint64_t samplesPerEpoch)
    : seed(seed), count(samplesPerEpoch),
      halfBits(std::max(1u, (static_cast<unsigned>(std::bit_width(samplesPerEpoch - 1)) + 1) / 2)) {}

SampleOrder SampleOrder::sequential(uint64_t samplesPerEpoch) {
  SampleOrder order(0, samplesPerEpoch);
  order.shuffled = false;
  return order;
}

uint64_t SampleOrder::sample(uint64_t i) const { return permuted(i / count, i % count); }

uint64_t SampleOrder::permuted(uint64_t epoch, uint64_t index) const {
  if (!shuffled)
    return index;
  constexpr int rounds = 6;
  uint64_t key = mix(mix(seed) ^ epoch);
  uint64_t mask = (uint64_t(1) << halfBits) - 1;
  do {
    uint64_t left = index >> halfBits, right = index & mask;
    for (int round = 0; round < rounds; ++round) {
      uint64_t next = left ^ (mix(key ^ mix(right + (uint64_t(round) << 56))) & mask);
      left = right;
      right = next;
    }
    index = left << halfBits | right;
  } while (index >= count);
  return index;
}

} // namespace hocket::runtime
