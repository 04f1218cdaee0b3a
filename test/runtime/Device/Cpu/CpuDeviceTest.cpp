// What the host alone says; the rest is the conformance suite's.
#include "runtime/Device/Cpu/CpuDevice.h"
#include <gtest/gtest.h>

using namespace hocket::runtime;
namespace {

TEST(CpuDevice, SaysThatItsKernelsAreLinked) {
  CpuDevice cpu(1);
  EXPECT_EQ(cpu.kernel("code", "k").error().message, "kernels of this device are linked, not loaded");
}

TEST(CpuDevice, SaysThatItsProductsHaveNoEpilogues) {
  CpuDevice cpu(1);
  auto stream = *cpu.stream();
  Gemm gemm{false, false, false, 1, 1, 1, 1, 1, 1};
  gemm.epilogue = GemmEpilogue::SumA;
  float x = 0;
  EXPECT_EQ(cpu.gemm(*stream, gemm, {&x, &x, &x, nullptr, nullptr, &x}).error().message,
            "products on the CPU have no epilogues");
}

TEST(CpuDevice, SaysThatMemoryIsLacking) {
  CpuDevice cpu(1);
  auto memory = cpu.allocate(size_t(1) << 60);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().kind, ErrorKind::Lacking);
  EXPECT_EQ(memory.error().message, "no 1152921504606846976 bytes of memory");
}

} // namespace
