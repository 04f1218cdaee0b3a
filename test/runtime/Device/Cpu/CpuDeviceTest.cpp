// The host behind the device interface: memory, copies, launches.
#include "runtime/Device/Cpu/CpuDevice.h"
#include <gtest/gtest.h>

using namespace hocket::runtime;
namespace {

// out[tile] = in[tile] * scalar
void scale(void *const *buffers, const int64_t *scalars, int64_t begin, int64_t end) {
  for (int64_t tile = begin; tile < end; ++tile)
    static_cast<int64_t *>(buffers[1])[tile] = static_cast<const int64_t *>(buffers[0])[tile] * scalars[0];
}

TEST(CpuDevice, LaunchesKernelsInOrder) {
  CpuDevice cpu(2);
  auto stream = *cpu.stream();
  auto event = *cpu.event();
  constexpr int64_t n = 1001;
  auto *x = static_cast<int64_t *>(*cpu.allocate(n * sizeof(int64_t)));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(x) % 64, 0u);
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(x[i], 0);
    x[i] = i;
  }
  void *buffers[] = {x, x};
  int64_t three = 3;
  Launch launch{reinterpret_cast<const void *>(&scale), buffers, {&three, 1}, n};
  ASSERT_TRUE(cpu.launch(*stream, launch));
  ASSERT_TRUE(cpu.launch(*stream, launch));
  ASSERT_TRUE(cpu.record(*stream, *event));
  EXPECT_TRUE(*cpu.complete(*event));
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(x[i], 9 * i);
  std::vector<int64_t> host(n);
  ASSERT_TRUE(cpu.copy(*stream, host.data(), x, n * sizeof(int64_t)));
  ASSERT_TRUE(cpu.zero(*stream, x, n * sizeof(int64_t)));
  ASSERT_TRUE(cpu.synchronize(*stream));
  EXPECT_EQ(host.back(), 9000);
  EXPECT_EQ(x[n - 1], 0);
  cpu.free(x);
}

TEST(CpuDevice, MultipliesMatrices) {
  CpuDevice cpu(1);
  auto stream = *cpu.stream();
  Gemm gemm{false, false, true, 2, 2, 2, 2, 2, 2};
  float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {1, 0, 0, 0};
  ASSERT_TRUE(cpu.gemm(*stream, gemm, a, b, c));
  EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{20, 22, 43, 50}));
}

TEST(CpuDevice, SaysThatMemoryIsLacking) {
  CpuDevice cpu(1);
  auto memory = cpu.allocate(size_t(1) << 60);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().kind, ErrorKind::Lacking);
  EXPECT_EQ(memory.error().message, "no 1152921504606846976 bytes of memory");
}

} // namespace
