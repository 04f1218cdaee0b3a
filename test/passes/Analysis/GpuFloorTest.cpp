// The least time of a kernel on GPUs with names.
#include "passes/Analysis/GpuFloor.h"
#include <gtest/gtest.h>
using namespace hocket::analysis;

namespace {
TEST(GpuFloor, GpusHaveNames) {
  EXPECT_EQ(gpuNames(), "A100-40GB, A100, H100, H100-PCIe, H200, B200");
  ASSERT_NE(findGpu("h100"), nullptr);
  EXPECT_EQ(findGpu("h100")->name, "H100");
  EXPECT_EQ(findGpu("B200")->architecture, "sm_100");
  EXPECT_EQ(findGpu("V100"), nullptr); // none of the architectures that kernels are made for
}

TEST(GpuFloor, TheLongerOfMemoryAndWork) {
  const Gpu &h100 = *findGpu("H100");
  // an update of 124,439,808 parameters in f32: four tensors read, three written, about 14 operations each
  int64_t parameters = 124439808, bytes = 28 * parameters;
  Floor update = floorOf(h100, bytes, 14 * parameters, GpuUnits::Float32);
  EXPECT_TRUE(update.boundByMemory());
  EXPECT_NEAR(update.seconds(), 3484314624 / 3.35e12, 1e-9);
  EXPECT_EQ(floorText(update), "1.04 ms, memory");
  // a product of 8192 x 8192 x 8192 in 16 bits
  int64_t n = 8192;
  Floor product = floorOf(h100, 3 * 2 * n * n, 2 * n * n * n, GpuUnits::Tensor16);
  EXPECT_FALSE(product.boundByMemory());
  EXPECT_EQ(floorText(product), "1.11 ms, work");
  // the same on plain multiply-adds, and where operands are cut to TF32
  EXPECT_NEAR(floorOf(h100, 0, 2 * n * n * n, GpuUnits::Float32).seconds(), 1099511627776 / 67e12, 1e-6);
  EXPECT_NEAR(floorOf(*findGpu("A100"), 0, 156, GpuUnits::TensorTf32).seconds(), 1e-12, 1e-20);
  EXPECT_EQ(floorText(floorOf(h100, 3350, 0, GpuUnits::Float32)), "0.00 us, memory");
  EXPECT_EQ(floorText(floorOf(h100, 26800000, 0, GpuUnits::Float32)), "8.00 us, memory");
}
} // namespace
