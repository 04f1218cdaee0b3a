// The random numbers of dropout: a word is a function of counters and of nothing else, so that no plan, order or second
// forward changes it. Philox2x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC
// 2011), section 4.3. Kernels compute the same in vectors (passes/Codegen/CPU/Dropout.cpp).
//
//   row key      K = philox2x32(draw of the sequence, 0; key: number of the stream)
//   element      W = philox2x32(global index among the features of its token, position; key: K)
//   kept         W <= keepBound(rate), so that the probability is exact to 2^-32
//
// Two of all rows and streams share a key, and then a mask, with probability 2^-32.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cmath>
#include <cstdint>

namespace hocket::nn {
constexpr uint32_t philoxMultiplier = 0xD256D193u, philoxKeyStep = 0x9E3779B9u;
constexpr int philoxRounds = 10;

/// The first of the two words for the counter (c0, c1).
constexpr uint32_t philox2x32(uint32_t c0, uint32_t c1, uint32_t key) {
  for (int round = 0; round < philoxRounds; ++round, key += philoxKeyStep) {
    uint64_t product = uint64_t(philoxMultiplier) * c0;
    c0 = uint32_t(product >> 32) ^ key ^ c1;
    c1 = uint32_t(product);
  }
  return c0;
}

/// The number of a stream's name: FNV-1a, its halves folded together.
inline uint32_t streamNumber(llvm::StringRef name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return uint32_t(hash) ^ uint32_t(hash >> 32);
}

/// An element is kept if its word is at most this; rate in [0, 1).
///   0 -> 2^32 - 1     0.5 -> 2^31 - 1     0.1 -> 3865470565
inline uint32_t keepBound(double rate) {
  double kept = std::round((1 - rate) * 4294967296.0);
  return kept < 1 ? 0 : uint32_t(uint64_t(kept) - 1);
}
} // namespace hocket::nn
