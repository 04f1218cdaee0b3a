// cp.async: right waits, weak waits, copies of fewer bytes.
#include "EmulatorTesting.h"

using namespace hocket::test;
namespace {

const char *declarations = R"(
declare void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3), ptr addrspace(1))
declare void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3), ptr addrspace(1), i32)
declare void @llvm.nvvm.cp.async.commit.group()
declare void @llvm.nvvm.cp.async.wait.group(i32)
declare void @llvm.nvvm.cp.async.wait.all()
@tile = internal addrspace(3) global [256 x i32] undef, align 16
)";

// Each thread copies 16 bytes to each half of the tile, one group a half, waits until `left` groups are on their way,
// and reads its bytes of the second half.
std::string twoGroups(int left) {
  return kernelText("ptr addrspace(1) %a, ptr addrspace(1) %b",
                    R"(
  %i = mul i32 %tid, 4
  %j = add i32 %i, 128
  %from0 = getelementptr i32, ptr addrspace(1) %a, i32 %i
  %from1 = getelementptr i32, ptr addrspace(1) %a, i32 %j
  %to0 = getelementptr i32, ptr addrspace(3) @tile, i32 %i
  %to1 = getelementptr i32, ptr addrspace(3) @tile, i32 %j
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %to0, ptr addrspace(1) %from0)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr addrspace(3) %to1, ptr addrspace(1) %from1)
  call void @llvm.nvvm.cp.async.commit.group()
  call void @llvm.nvvm.cp.async.wait.group(i32 )" +
                        std::to_string(left) + R"()
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = load <4 x i32>, ptr addrspace(3) %to1, align 16
  %out = getelementptr i32, ptr addrspace(1) %b, i32 %i
  store <4 x i32> %x, ptr addrspace(1) %out, align 16
  ret void)",
                    declarations);
}

struct Copies {
  std::vector<int32_t> a = std::vector<int32_t>(256), b = std::vector<int32_t>(128);
  std::string run(const std::string &text, Options options = {}) {
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<int32_t>(i);
    TestKernel kernel(text, options);
    kernel.buffer(a);
    kernel.buffer(b);
    return kernel.run({1}, {32});
  }
};

TEST(EmulatorCopy, ArrivesAtItsWait) {
  Copies copies;
  EXPECT_EQ(copies.run(twoGroups(0)), "");
  for (int32_t i = 0; i < 128; ++i)
    ASSERT_EQ(copies.b[static_cast<size_t>(i)], 128 + i);
}

TEST(EmulatorCopy, AWeakWaitIsReported) {
  Copies copies;
  EXPECT_EQ(copies.run(twoGroups(1)),
            "kernel \"k\", block (0,0,0), thread (31,0,0): reads byte 1008 of shared memory, which a cp.async of "
            "thread (31,0,0) that was not waited for writes, at `call void @llvm.nvvm.cp.async.cg.shared.global.16(ptr "
            "addrspace(3) %to1, ptr addrspace(1) %from1)`, at `%x = load <4 x i32>, ptr addrspace(3) %to1, align 16` "
            "(and 511 more like it)");
}

TEST(EmulatorCopy, AWeakWaitGivesWrongNumbersWithoutTheChecker) {
  Copies copies;
  Options options;
  options.check = false;
  EXPECT_EQ(copies.run(twoGroups(1), options), "");
  EXPECT_EQ(copies.b[0], -1);
}

TEST(EmulatorCopy, FillsUpWithZeros) {
  Copies copies;
  EXPECT_EQ(copies.run(kernelText("ptr addrspace(1) %a, ptr addrspace(1) %b", R"(
  %i = mul i32 %tid, 4
  %from = getelementptr i32, ptr addrspace(1) %a, i32 %i
  %to = getelementptr i32, ptr addrspace(3) @tile, i32 %i
  call void @llvm.nvvm.cp.async.cg.shared.global.16.s(ptr addrspace(3) %to, ptr addrspace(1) %from, i32 8)
  call void @llvm.nvvm.cp.async.wait.all()
  %x = load <4 x i32>, ptr addrspace(3) %to, align 16
  %out = getelementptr i32, ptr addrspace(1) %b, i32 %i
  store <4 x i32> %x, ptr addrspace(1) %out, align 16
  ret void)",
                                  declarations)),
            "");
  EXPECT_THAT(std::vector<int32_t>(copies.b.begin() + 4, copies.b.begin() + 8), testing::ElementsAre(4, 5, 0, 0));
}

} // namespace
