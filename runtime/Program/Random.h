// Counter-based randomness: a number is a function of (seed, stream, index) and of nothing else, so no plan, thread or
// order changes it. The runtime makes initial parameter values with it, the reference interpreter checks against it.
// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 4.3.
#ifndef HOCKET_RUNTIME_PROGRAM_RANDOM_H
#define HOCKET_RUNTIME_PROGRAM_RANDOM_H

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace hocket::program {

// Four random words for the 64-bit key and the 128-bit counter (high, low).
inline std::array<uint32_t, 4> philox(uint64_t key, uint64_t low, uint64_t high) {
  std::array<uint32_t, 4> c{uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32)};
  uint32_t k0 = uint32_t(key), k1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53u) * c[0], p1 = uint64_t(0xCD9E8D57u) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k0, uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k1, uint32_t(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

// What dropout draws for a sequence: a function of the step (1 = the first) and of the sequence's row in the global
// batch, whatever rank and microbatch has it. Never 0, which means that nothing is dropped.
inline uint32_t sequenceDraw(uint64_t seed, uint64_t step, uint64_t row) {
  uint32_t word = philox(seed, row, step)[0];
  return word ? word : 1;
}

// FNV-1a of a name: the stream of a parameter.
inline uint64_t streamOf(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

// Element `index` of a stream of independent normal numbers (mean 0, deviation 1), by Box and Muller's transform of the
// words 2j and 2j+1 of block index/4, j = (index/2)%2; even elements take the cosine, odd ones the sine.
inline double standardNormal(uint64_t seed, uint64_t stream, uint64_t index) {
  std::array<uint32_t, 4> words = philox(seed, index / 4, stream);
  unsigned pair = (index / 2) % 2;
  constexpr double toUnit = 1.0 / 4294967296.0; // 2^-32; the half keeps 0 and 1 out
  double radius = std::sqrt(-2 * std::log((words[2 * pair] + 0.5) * toUnit));
  double angle = 6.283185307179586 * ((words[2 * pair + 1] + 0.5) * toUnit);
  return radius * (index % 2 ? std::sin(angle) : std::cos(angle));
}

// Initial value of element `index` (row-major in the logical shape) of the parameter `name`, deviation `scale`.
// An f32 parameter holds float(initialNormal(…)).
inline double initialNormal(uint64_t seed, std::string_view name, uint64_t index, double scale) {
  return scale * standardNormal(seed, streamOf(name), index);
}

} // namespace hocket::program
#endif
