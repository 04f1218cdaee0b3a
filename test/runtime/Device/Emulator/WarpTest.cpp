// Warp collectives against loops over lanes.
#include "EmulatorTesting.h"

using namespace hocket::test;
namespace {

const char *declarations = R"(
declare i32 @llvm.nvvm.shfl.sync.up.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32)
declare {i32, i1} @llvm.nvvm.shfl.sync.down.i32p(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
)";

// Runs `body`, which makes %r (i32) of %tid and %lane; returns %r of each thread.
std::vector<uint32_t> run(const std::string &body, uint32_t threads = 64) {
  TestKernel kernel(kernelText("ptr addrspace(1) %a", body + R"(
  %to = getelementptr i32, ptr addrspace(1) %a, i32 %tid
  store i32 %r, ptr addrspace(1) %to, align 4
  ret void)",
                               declarations));
  std::vector<uint32_t> a(threads);
  kernel.buffer(a);
  EXPECT_EQ(kernel.run({1}, {threads}), "");
  return a;
}

template <class F> void expectLanes(const std::vector<uint32_t> &found, F expected) {
  for (uint32_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], expected(i)) << "thread " << i;
}

TEST(EmulatorWarp, ShufflesInFourModes) {
  expectLanes(run("%r = call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %tid, i32 3, i32 0)"),
              [](uint32_t i) { return i % 32 < 3 ? i : i - 3; });
  expectLanes(run("%r = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %tid, i32 3, i32 31)"),
              [](uint32_t i) { return i % 32 > 28 ? i : i + 3; });
  expectLanes(run("%r = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %tid, i32 5, i32 31)"),
              [](uint32_t i) { return i ^ 5; });
  expectLanes(run("%r = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %tid, i32 7, i32 31)"),
              [](uint32_t i) { return i / 32 * 32 + 7; });
}

// c = 0x1807 cuts the warp into four segments of eight lanes.
TEST(EmulatorWarp, ShufflesWithinSegments) {
  expectLanes(run("%r = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %tid, i32 2, i32 6175)"),
              [](uint32_t i) { return i / 8 * 8 + 2; });
  expectLanes(run("%r = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %tid, i32 1, i32 6175)"),
              [](uint32_t i) { return i % 8 == 7 ? i : i + 1; });
}

TEST(EmulatorWarp, TellsWhichLanesGotAnother) {
  expectLanes(run(R"(
  %both = call {i32, i1} @llvm.nvvm.shfl.sync.down.i32p(i32 -1, i32 %tid, i32 4, i32 31)
  %value = extractvalue {i32, i1} %both, 0
  %inside = extractvalue {i32, i1} %both, 1
  %bit = zext i1 %inside to i32
  %high = shl i32 %bit, 16
  %r = or i32 %high, %value)"),
              [](uint32_t i) { return i % 32 < 28 ? 0x10000 | (i + 4) : i; });
}

TEST(EmulatorWarp, SumsAcrossLanesInFloat) {
  std::string body = "  %x0 = uitofp i32 %lane to float\n";
  for (int step = 0; step < 5; ++step) {
    std::string now = std::to_string(step), next = std::to_string(step + 1);
    body += "  %o" + now + " = call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %x" + now + ", i32 " +
            std::to_string(1 << step) + ", i32 31)\n  %x" + next + " = fadd float %x" + now + ", %o" + now + "\n";
  }
  expectLanes(run(body + "  %r = fptoui float %x5 to i32"), [](uint32_t) { return 31u * 32 / 2; });
}

TEST(EmulatorWarp, VotesMatchesAndReduces) {
  expectLanes(run("%p = icmp ugt i32 %lane, 29\n%r = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %p)"),
              [](uint32_t) { return 0xC0000000u; });
  expectLanes(
      run("%p = icmp ugt i32 %tid, 29\n%q = call i1 @llvm.nvvm.vote.all.sync(i32 -1, i1 %p)\n%r = zext i1 %q to i32"),
      [](uint32_t i) { return i / 32; });
  expectLanes(
      run("%p = icmp eq i32 %tid, 29\n%q = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %p)\n%r = zext i1 %q to i32"),
      [](uint32_t i) { return 1 - i / 32; });
  expectLanes(run("%v = and i32 %lane, 15\n%r = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %v)"),
              [](uint32_t i) { return 0x10001u << i % 16; });
  expectLanes(run("%r = call i32 @llvm.nvvm.redux.sync.add(i32 %lane, i32 -1)"), [](uint32_t) { return 496u; });
}

// Lanes of one half of a warp meet by themselves, while the others are elsewhere.
TEST(EmulatorWarp, MeetsUnderPartialMasks) {
  expectLanes(run(R"(
  %low = icmp ult i32 %lane, 16
  br i1 %low, label %first, label %second
first:
  %x = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 65535, i32 %tid, i32 3, i32 31)
  br label %end
second:
  %y = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -65536, i32 %tid, i32 20, i32 31)
  br label %end
end:
  %r = phi i32 [%x, %first], [%y, %second])"),
              [](uint32_t i) { return i / 32 * 32 + (i % 32 < 16 ? 3 : 20); });
}

} // namespace
