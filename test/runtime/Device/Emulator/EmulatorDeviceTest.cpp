// What the emulated device finds that others do not: orders that nobody stated.
#include "runtime/Device/Emulator/EmulatorDevice.h"
#include "Conformance/Subject.h"
#include "EmulatorTesting.h"
#include "runtime/Device/OpenEmulator.h"

using namespace hocket::test;
namespace {

// x = 1 on one stream, y = 5 x on another one; with the event between them y is 5. Without the checker, which would
// tell (StreamOrderTest.cpp).
int64_t result(uint64_t seed, bool withEvent) {
  auto device = *openEmulatorDevice(seed, /*check=*/false);
  auto first = *device->stream(), second = *device->stream();
  auto made = *device->event();
  auto *x = static_cast<int64_t *>(*device->allocate(8)), *y = static_cast<int64_t *>(*device->allocate(8));
  int64_t one = 1, five = 5;
  EXPECT_TRUE(device->copy(*first, x, &one, 8));
  EXPECT_TRUE(device->record(*first, *made));
  if (withEvent)
    EXPECT_TRUE(device->wait(*second, *made));
  void *buffers[] = {x, y};
  EXPECT_TRUE(device->launch(*second, {scaleKernel(*device), buffers, {&five, 1}}));
  EXPECT_TRUE(device->synchronize(*second));
  int64_t found = *y;
  device->free(x);
  device->free(y);
  return found;
}

TEST(EmulatorDevice, AMissingEventIsCaughtUnderSomeSeeds) {
  int right = 0, wrong = 0;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    EXPECT_EQ(result(seed, true), 5);
    int64_t without = result(seed, false);
    EXPECT_EQ(without, result(seed, false)) << "one seed, two orders";
    ++(without == 5 ? right : wrong);
  }
  EXPECT_GT(right, 8);
  EXPECT_GT(wrong, 8);
}

// A wait is for the last record before it, whatever the event is recorded after later, on another stream with nothing
// to do.
TEST(EmulatorDevice, AnEventUsedAgainKeepsItsWaiters) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto device = makeDevice(seed);
    auto first = *device->stream(), second = *device->stream(), third = *device->stream();
    auto event = *device->event();
    auto *x = static_cast<int64_t *>(*device->allocate(16));
    int64_t one = 1, five = 5;
    EXPECT_TRUE(device->copy(*first, x, &one, 8) && device->record(*first, *event));
    EXPECT_TRUE(device->wait(*second, *event) && device->record(*third, *event));
    void *buffers[] = {x, x + 1};
    EXPECT_TRUE(device->launch(*second, {scaleKernel(*device), buffers, {&five, 1}}));
    Status ran = device->synchronize(*second);
    EXPECT_TRUE(ran) << ran.error().message;
    EXPECT_EQ(x[1], 5);
    device->free(x);
  }
}

TEST(EmulatorDevice, NothingRunsBeforeItIsAskedFor) {
  auto device = makeDevice(0);
  auto stream = *device->stream();
  auto *x = static_cast<int64_t *>(*device->allocate(8));
  int64_t one = 1;
  ASSERT_TRUE(device->copy(*stream, x, &one, 8));
  EXPECT_EQ(*x, 0);
  ASSERT_TRUE(device->synchronize(*stream));
  EXPECT_EQ(*x, 1);
  device->free(x);
}

TEST(EmulatorDevice, AFaultOfAKernelStays) {
  auto device = makeDevice(0);
  auto stream = *device->stream();
  auto *x = static_cast<int64_t *>(*device->allocate(16));
  int64_t two = 2;
  void *buffers[] = {x, x + 2};
  ASSERT_TRUE(device->launch(*stream, {scaleKernel(*device), buffers, {&two, 1}}));
  Status ran = device->synchronize(*stream);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message,
            "kernel \"k\", block (0,0,0), thread (0,0,0): writes 8 bytes at byte 16 of \"device memory 0\", which has "
            "16, at `store i64 %y, ptr addrspace(1) %to, align 8`");
  EXPECT_EQ(device->zero(*stream, x, 8).error().message, ran.error().message);
}

TEST(EmulatorDevice, RefusesCodeWithoutTheKernel) {
  auto device = makeDevice(0);
  EXPECT_EQ(device->kernel("target triple = \"nvptx64-nvidia-cuda\"", "k").error().message, "no kernel in it");
  EXPECT_EQ(device->kernel(kernelText("", "ret void"), "other").error().message, "no kernel \"other\"");
}

TEST(EmulatorDevice, RefusesProductsThatCublasLtWould) {
  auto device = makeDevice(0);
  auto stream = *device->stream();
  float c[9] = {}, before[9] = {};
  Gemm gemm{false, false, false, 3, 3, 3, 3, 3, 3};
  gemm.epilogue = GemmEpilogue::GeluGrad;
  EXPECT_EQ(device->gemm(*stream, gemm, {c, c, c, nullptr, before}).error().message,
            "the leading dimension of gelu's operand is 3, expected a multiple of 8");
  gemm.epilogue = GemmEpilogue::Bias;
  gemm.accumulate = true;
  EXPECT_EQ(device->gemm(*stream, gemm, {c, c, c, before}).error().message,
            "a product with this epilogue has a batch or accumulates");
  gemm.epilogue = GemmEpilogue::SumA;
  gemm.batch = 2;
  EXPECT_EQ(device->prepare(gemm, {c, c, c, nullptr, nullptr, before}).error().message,
            "a product with this epilogue has a batch or accumulates");
}

TEST(EmulatorDevice, IsOpenedAtRunTime) {
  auto device = openEmulatorDevice(1, true);
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ((*device)->name(), "emulator");
  EXPECT_NE(scaleKernel(**device), nullptr);
}

} // namespace
