// Indices, arguments, shared memory, what a launch refuses.
#include "EmulatorTesting.h"
#include <numeric>

using namespace hocket::test;
namespace {

TEST(EmulatorLaunch, GivesEachThreadItsIndex) {
  TestKernel kernel(kernelText("ptr addrspace(1) %a", R"(
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = mul i32 %block, %threads
  %i = add i32 %first, %tid
  %p = getelementptr i32, ptr addrspace(1) %a, i32 %i
  store i32 %i, ptr addrspace(1) %p, align 4
  ret void)"));
  std::vector<int32_t> a(5 * 96), expected(a.size());
  std::iota(expected.begin(), expected.end(), 0);
  kernel.buffer(a);
  EXPECT_EQ(kernel.run({5}, {96}), "");
  EXPECT_EQ(a, expected);
}

// Thread t writes shared[t], reads shared[63 - t]; the dynamic part holds its negative.
std::string reverse(bool withBarrier) {
  return kernelText("ptr addrspace(1) %a",
                    std::string(R"(
  %own = getelementptr i32, ptr addrspace(3) @shared, i32 %tid
  store i32 %tid, ptr addrspace(3) %own, align 4
  %ownMore = getelementptr i32, ptr addrspace(3) @more, i32 %tid
  %negative = sub i32 0, %tid
  store i32 %negative, ptr addrspace(3) %ownMore, align 4
)") + (withBarrier ? "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)" : "") +
                        R"(
  %other = sub i32 63, %tid
  %from = getelementptr i32, ptr addrspace(3) @shared, i32 %other
  %x = load i32, ptr addrspace(3) %from, align 4
  %fromMore = getelementptr i32, ptr addrspace(3) @more, i32 %other
  %y = load i32, ptr addrspace(3) %fromMore, align 4
  %z = shl i32 %y, 8
  %sum = add i32 %x, %z
  %to = getelementptr i32, ptr addrspace(1) %a, i32 %tid
  store i32 %sum, ptr addrspace(1) %to, align 4
  ret void)",
                    "@more = external addrspace(3) global [0 x i8], align 16");
}

TEST(EmulatorLaunch, KeepsStaticAndDynamicSharedMemoryApart) {
  TestKernel kernel(reverse(true));
  std::vector<int32_t> a(64);
  kernel.buffer(a);
  EXPECT_EQ(kernel.run({1}, {64}, 256), "");
  for (int32_t i = 0; i < 64; ++i)
    ASSERT_EQ(a[static_cast<size_t>(i)], 63 - i - 256 * (63 - i));
}

TEST(EmulatorLaunch, SharedMemoryIsNaNUntilWritten) {
  Options options;
  options.check = false;
  TestKernel kernel(kernelText("ptr addrspace(1) %a", R"(
  %x = load i32, ptr addrspace(3) @shared, align 4
  store i32 %x, ptr addrspace(1) %a, align 4
  ret void)"),
                    options);
  std::vector<uint32_t> a(1);
  kernel.buffer(a);
  EXPECT_EQ(kernel.run({1}, {1}), "");
  EXPECT_EQ(a[0], 0xFFFFFFFFu);
}

TEST(EmulatorLaunch, RunsWithoutTheChecker) {
  Options options;
  options.check = false;
  TestKernel kernel(reverse(true), options);
  std::vector<int32_t> a(64);
  kernel.buffer(a);
  EXPECT_EQ(kernel.run({3}, {64}, 256), "");
  EXPECT_EQ(a[0], 63 - 256 * 63);
  EXPECT_GE(kernel.emulator.counts().barriers, 3u * 64);
}

TEST(EmulatorLaunch, RefusesWhatTheDriverWould) {
  TestKernel kernel(kernelText("ptr addrspace(1) %a", "ret void"));
  EXPECT_EQ(kernel.run({1}, {1}), "kernel \"k\": takes 1 arguments, 0 are given");
  std::vector<int32_t> a(1);
  kernel.buffer(a);
  EXPECT_EQ(kernel.run({1}, {1025}), "kernel \"k\": block of (1025,1,1) threads, 1 to 1024 are allowed, 64 along z");
  EXPECT_EQ(kernel.run({1, 65536}, {1}),
            "kernel \"k\": grid of (1,65536,1) blocks, 1 to 16777215 are emulated, 65535 along y and z");
  EXPECT_EQ(kernel.run({1}, {1}, 232449), "kernel \"k\": 232449 bytes of shared memory, 232448 is the most");
}

} // namespace
