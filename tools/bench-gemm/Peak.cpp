// See Peak.h. Eighteen independent sums hide the latency of a multiply-add on every CPU that we know (4 cycles on two
// units, at the least); the loop touches no memory.
#include "tools/bench-gemm/Peak.h"
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace hocket::bench {
namespace {

constexpr int sums = 18;

template <int Lanes, int... I> [[gnu::always_inline]] inline float chain(int64_t rounds) {
  typedef float Vector __attribute__((vector_size(Lanes * sizeof(float))));
  // Unknown to the compiler, which would drop a sum that starts at its limit.
  volatile float factor = 0.999f, addend = 0.003f;
  Vector scale = Vector{} + factor, add = Vector{} + addend, total[sums];
  for (int i = 0; i < sums; ++i)
    total[i] = Vector{} + static_cast<float>(i);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (int i = 0; i < sums; ++i)
      total[i] = __builtin_elementwise_fma(total[i], scale, add);
    asm volatile("" : "+r"(round)); // the loop stays a loop
  }
  float result = 0;
  for (int i = 0; i < sums; ++i)
    for (int lane = 0; lane < Lanes; ++lane)
      result += total[i][lane];
  return result;
}

using Loop = float (*)(int64_t rounds);
#if defined(__x86_64__)
[[gnu::target("avx512f"), gnu::noinline]] float wide(int64_t rounds) { return chain<16>(rounds); }
[[gnu::target("avx2,fma"), gnu::noinline]] float half(int64_t rounds) { return chain<8>(rounds); }
#endif
// Without a multiply-add instruction the function of the C library would be measured: a product and a sum instead.
[[gnu::noinline]] float narrow(int64_t rounds) {
  typedef float Vector __attribute__((vector_size(16)));
  Vector scale = Vector{} + 0.999f, add = Vector{} + 0.001f, total[12];
  for (int i = 0; i < 12; ++i)
    total[i] = Vector{} + static_cast<float>(i);
  for (int64_t round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
    for (int i = 0; i < 12; ++i)
      total[i] = total[i] * scale + add;
  float result = 0;
  for (int i = 0; i < 12; ++i)
    result += total[i][0] + total[i][1] + total[i][2] + total[i][3];
  return result;
}

struct Width {
  Loop loop;
  int64_t flops; // of one round
};

Width widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return {wide, 2 * 16 * sums};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {half, 2 * 8 * sums};
#endif
  return {narrow, 2 * 4 * 12};
}

double secondsOf(const Width &width, int threads, int64_t rounds) {
  std::atomic<int> waiting{threads};
  std::atomic<float> sink{0};
  std::vector<std::thread> others;
  std::chrono::steady_clock::time_point begin;
  auto work = [&](bool first) {
    for (--waiting; waiting.load() > 0;)
      std::this_thread::yield();
    if (first)
      begin = std::chrono::steady_clock::now();
    sink.store(width.loop(rounds));
  };
  for (int i = 1; i < threads; ++i)
    others.emplace_back(work, false);
  work(true);
  for (std::thread &other : others)
    other.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

double flopsPerSecond(int threads) {
  Width width = widest();
  constexpr int64_t trial = 100'000;
  double once = secondsOf(width, 1, trial);
  auto rounds = static_cast<int64_t>(trial * 0.02 / once) + 1;
  return static_cast<double>(width.flops * rounds * threads) / secondsOf(width, threads, rounds);
}

} // namespace hocket::bench
