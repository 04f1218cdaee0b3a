// Barriers among all threads, some warps, and what goes wrong with them.
#include "EmulatorTesting.h"

using namespace hocket::test;
namespace {

const char *counted = R"(
declare i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32, i1)
)";

// A kernel whose threads with %INDEX (tid, lane) below `count` do `low`, and all others `high`.
std::string parted(const std::string &index, int count, const std::string &low, const std::string &high) {
  return kernelText("", "%low = icmp ult i32 %" + index + ", " + std::to_string(count) +
                            "\nbr i1 %low, label %first, label %second\nfirst:\n" + low + "ret void\nsecond:\n" + high +
                            "ret void");
}
const std::string arrive = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
const std::string meetOfWarp = "call void @llvm.nvvm.bar.warp.sync(i32 -1)\n";
const std::string store = "store i32 1, ptr addrspace(3) @shared, align 4\n"; // keeps two equal calls apart

TEST(EmulatorBarrier, NamedBarriersJoinSomeWarps) {
  // Warps 0 and 1 exchange values over barrier 1, warps 2 and 3 over barrier 2.
  TestKernel kernel(kernelText("ptr addrspace(1) %a", R"(
  %half = lshr i32 %tid, 6
  %name = add i32 %half, 1
  %own = getelementptr i32, ptr addrspace(3) @slots, i32 %tid
  store i32 %tid, ptr addrspace(3) %own, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 %name, i32 64)
  %other = xor i32 %tid, 32
  %from = getelementptr i32, ptr addrspace(3) @slots, i32 %other
  %x = load i32, ptr addrspace(3) %from, align 4
  %to = getelementptr i32, ptr addrspace(1) %a, i32 %tid
  store i32 %x, ptr addrspace(1) %to, align 4
  ret void)",
                               "@slots = internal addrspace(3) global [128 x i32] undef, align 16"));
  std::vector<int32_t> a(128);
  kernel.buffer(a);
  EXPECT_EQ(kernel.run({1}, {128}), "");
  for (int32_t i = 0; i < 128; ++i)
    ASSERT_EQ(a[static_cast<size_t>(i)], i ^ 32);
}

TEST(EmulatorBarrier, CountsPredicates) {
  TestKernel kernel(kernelText("ptr addrspace(1) %a", R"(
  %p = icmp ult i32 %tid, 5
  %n = call i32 @llvm.nvvm.barrier.cta.red.popc.aligned.all(i32 0, i1 %p)
  %to = getelementptr i32, ptr addrspace(1) %a, i32 %tid
  store i32 %n, ptr addrspace(1) %to, align 4
  ret void)",
                               counted));
  std::vector<int32_t> a(96);
  kernel.buffer(a);
  EXPECT_EQ(kernel.run({1}, {96}), "");
  EXPECT_THAT(a, testing::Each(5));
}

TEST(EmulatorBarrier, ReportsThreadsAtDifferentBarriers) {
  TestKernel kernel(parted("tid", 32, arrive + store, arrive));
  EXPECT_EQ(kernel.run({1}, {64}), "kernel \"k\", block (0,0,0), thread (32,0,0): waits at a barrier while thread "
                                   "(0,0,0) waits at another one, at `call "
                                   "void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)`, at `call void "
                                   "@llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)`");
}

TEST(EmulatorBarrier, ReportsABarrierThatEndedThreadsOfTheWarpMissed) {
  TestKernel kernel(parted("tid", 40, arrive, ""));
  EXPECT_EQ(
      kernel.run({1}, {64}),
      "kernel \"k\", block (0,0,0), thread (40,0,0): ends while thread (32,0,0) of the same warp waits at a barrier, "
      "at `call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)`");
}

TEST(EmulatorBarrier, ReportsABarrierAfterThreadsOfTheWarpEnded) {
  TestKernel kernel(parted("tid", 40, "", arrive));
  EXPECT_EQ(kernel.run({1}, {64}), "kernel \"k\", block (0,0,0), thread (40,0,0): waits at a barrier that thread "
                                   "(32,0,0) of the same warp ended without, "
                                   "at `call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)`");
}

TEST(EmulatorBarrier, ReportsThreadsThatWaitForever) {
  TestKernel kernel(parted("tid", 32, "call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 64)\n", ""));
  EXPECT_EQ(kernel.run({1}, {64}),
            "kernel \"k\", block (0,0,0), thread (0,0,0): nobody can go on: 32 threads from thread (0,0,0) on wait at "
            "a barrier, at `call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 3, i32 64)`; 32 have ended");
}

TEST(EmulatorBarrier, RefusesCountsThatAreNoWarps) {
  TestKernel kernel(kernelText("", "call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 40)\nret void"));
  EXPECT_EQ(kernel.run({1}, {64}),
            "kernel \"k\", block (0,0,0), thread (0,0,0): names 40 threads for barrier 1, a multiple of 32 up "
            "to 64 is meant, at `call void @llvm.nvvm.barrier.cta.sync.aligned.count(i32 1, i32 40)`");
  TestKernel other(kernelText("", "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 16)\nret void"));
  EXPECT_EQ(other.run({1}, {32}),
            "kernel \"k\", block (0,0,0), thread (0,0,0): names barrier 16, a block has barriers 0 to 15, at "
            "`call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 16)`");
}

TEST(EmulatorBarrier, ReportsLanesAtDifferentCollectives) {
  TestKernel kernel(parted("lane", 16, meetOfWarp + store, meetOfWarp));
  EXPECT_EQ(kernel.run({1}, {32}), "kernel \"k\", block (0,0,0), thread (16,0,0): executes bar.warp.sync while thread "
                                   "(0,0,0) of the same warp waits at another "
                                   "warp collective, at `call void @llvm.nvvm.bar.warp.sync(i32 -1)`, at `call void "
                                   "@llvm.nvvm.bar.warp.sync(i32 -1)`");
  TestKernel outside(kernelText("", "call void @llvm.nvvm.bar.warp.sync(i32 6)\nret void"));
  EXPECT_EQ(outside.run({1}, {32}),
            "kernel \"k\", block (0,0,0), thread (0,0,0): executes bar.warp.sync with lane mask 0x6, which leaves "
            "out its own lane 0, at `call void @llvm.nvvm.bar.warp.sync(i32 6)`");
}

} // namespace
