// Planted faults: each is found by name, with its whole message.
#include "EmulatorTesting.h"

using namespace hocket::test;
namespace {

// shared[tid] = tid; BARRIER; a[tid] = shared[other]
std::string neighbour(const std::string &barrier, const std::string &other) {
  return kernelText("ptr addrspace(1) %a", R"(
  %own = getelementptr i32, ptr addrspace(3) @shared, i32 %tid
  store i32 %tid, ptr addrspace(3) %own, align 4
)" + barrier + "\n  %other = " + other + R"(
  %from = getelementptr i32, ptr addrspace(3) @shared, i32 %other
  %x = load i32, ptr addrspace(3) %from, align 4
  %to = getelementptr i32, ptr addrspace(1) %a, i32 %tid
  store i32 %x, ptr addrspace(1) %to, align 4
  ret void)");
}
const std::string blockBarrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";
const std::string warpBarrier = "  call void @llvm.nvvm.bar.warp.sync(i32 -1)";

std::string run(const std::string &text, size_t elements = 64, Extent grid = {1}, Extent block = {64},
                uint32_t shared = 0) {
  TestKernel kernel(text);
  std::vector<int32_t> a(elements);
  kernel.buffer(a);
  return kernel.run(grid, block, shared);
}

TEST(EmulatorFault, RaceInSharedMemory) {
  // Threads run one after the other, so 63 finds what 0 wrote even without a barrier; it is a race all the same.
  EXPECT_EQ(run(neighbour(blockBarrier, "xor i32 %tid, 32")), "");
  EXPECT_THAT(
      run(neighbour("", "xor i32 %tid, 32")),
      testing::HasSubstr(
          "kernel \"k\", block (0,0,0), thread (32,0,0): reads byte 0 of shared memory, which thread (0,0,0) wrote, at "
          "`store i32 %tid, ptr addrspace(3) %own, align 4`, with no barrier between, at `%x = load i32, ptr "
          "addrspace(3) %from, align 4` (and "));
}

TEST(EmulatorFault, RaceWithinAWarp) {
  EXPECT_EQ(run(neighbour(warpBarrier, "xor i32 %tid, 1")), "");
  EXPECT_THAT(run(neighbour("", "xor i32 %tid, 1")),
              testing::HasSubstr("thread (1,0,0): reads byte 0 of shared memory, which thread "
                                 "(0,0,0) wrote"));
  // A warp's barrier orders nothing between warps.
  EXPECT_THAT(run(neighbour(warpBarrier, "xor i32 %tid, 32")), testing::HasSubstr("with no barrier between"));
}

TEST(EmulatorFault, WriteAfterRead) {
  EXPECT_EQ(run(kernelText("ptr addrspace(1) %a", R"(
  %p = getelementptr i32, ptr addrspace(1) %a, i32 %tid
  %x = load i32, ptr addrspace(1) %a, align 4
  store i32 %x, ptr addrspace(1) %p, align 4
  ret void)")),
            "kernel \"k\", block (0,0,0), thread (1,0,0): reads byte 0 of \"a\", which thread (0,0,0) wrote, at `store "
            "i32 %x, ptr addrspace(1) %p, align 4`, with no barrier between, at `%x = load i32, ptr addrspace(1) %a, "
            "align 4` (and 251 more like it)");
}

TEST(EmulatorFault, BlocksWriteTheSameByte) {
  EXPECT_EQ(run(kernelText("ptr addrspace(1) %a", "store i32 1, ptr addrspace(1) %a, align 4\nret void"), 1, {2}, {1}),
            "kernel \"k\", block (1,0,0), thread (0,0,0): writes byte 0 of \"a\", which another block wrote, at `store "
            "i32 1, ptr addrspace(1) %a, align 4`, in the same launch, at `store i32 1, ptr addrspace(1) %a, align 4` "
            "(and 3 more like it)");
}

TEST(EmulatorFault, ABlockReadsWhatAnotherWrites) {
  // Block b reads a[b + 1] and writes a[b].
  EXPECT_EQ(run(kernelText("ptr addrspace(1) %a", R"(
  %next = add i32 %block, 1
  %from = getelementptr i32, ptr addrspace(1) %a, i32 %next
  %x = load i32, ptr addrspace(1) %from, align 4
  %to = getelementptr i32, ptr addrspace(1) %a, i32 %block
  store i32 %x, ptr addrspace(1) %to, align 4
  ret void)"),
                3, {2}, {1}),
            "kernel \"k\", block (1,0,0), thread (0,0,0): writes byte 4 of \"a\", which another block read, at `%x = "
            "load i32, ptr addrspace(1) %from, align 4`, in the same launch, at `store i32 %x, ptr addrspace(1) %to, "
            "align 4` (and 3 more like it)");
}

TEST(EmulatorFault, OutOfBounds) {
  const char *body = R"(
  %p = getelementptr i32, ptr addrspace(1) %a, i32 %tid
  store i32 %tid, ptr addrspace(1) %p, align 4
  ret void)";
  EXPECT_EQ(run(kernelText("ptr addrspace(1) %a", body), 62),
            "kernel \"k\", block (0,0,0), thread (62,0,0): writes 4 bytes at byte 248 of \"a\", which has 248, at "
            "`store i32 %tid, ptr "
            "addrspace(1) %p, align 4` (and 1 more like it)");
  TestKernel unknown(
      kernelText("", "store i32 1, ptr addrspace(1) inttoptr (i64 4096 to ptr addrspace(1)), align 4\nret void"));
  EXPECT_EQ(unknown.run({1}, {1}),
            "kernel \"k\", block (0,0,0), thread (0,0,0): writes 4 bytes at 0x1000, outside all memory made known, at "
            "`store i32 1, ptr addrspace(1) inttoptr (i64 4096 to ptr addrspace(1)), align 4`");
}

TEST(EmulatorFault, ShortDynamicSharedMemory) {
  const char *more = "@more = external addrspace(3) global [0 x i8], align 16";
  const char *body = R"(
  %p = getelementptr i32, ptr addrspace(3) @more, i32 %tid
  store i32 %tid, ptr addrspace(3) %p, align 4
  ret void)";
  EXPECT_EQ(run(kernelText("ptr addrspace(1) %a", body, more), 1, {1}, {64}, 256), "");
  EXPECT_EQ(run(kernelText("ptr addrspace(1) %a", body, more), 1, {1}, {64}, 128),
            "kernel \"k\", block (0,0,0), thread (32,0,0): writes 4 bytes at byte 128 of shared memory, which has 128 "
            "(0 static, 128 dynamic), "
            "at `store i32 %tid, ptr addrspace(3) %p, align 4` (and 31 more like it)");
}

TEST(EmulatorFault, LessAlignedThanClaimed) {
  EXPECT_EQ(run(kernelText("ptr addrspace(1) %a", R"(
  %p = getelementptr i8, ptr addrspace(1) %a, i32 8
  %x = load <4 x i32>, ptr addrspace(1) %p, align 16
  store <4 x i32> %x, ptr addrspace(1) %p, align 8
  ret void)"),
                8, {1}, {1}),
            "kernel \"k\", block (0,0,0), thread (0,0,0): reads 16 bytes aligned to 8, the kernel claims 16, at `%x = "
            "load <4 x i32>, ptr "
            "addrspace(1) %p, align 16`");
}

TEST(EmulatorFault, SharedMemoryThatNobodyWrote) {
  std::string text = kernelText("ptr addrspace(1) %a", R"(
  %x = load i32, ptr addrspace(3) @shared, align 4
  store i32 %x, ptr addrspace(1) %a, align 4
  ret void)");
  EXPECT_EQ(run(text, 1, {1}, {1}),
            "kernel \"k\", block (0,0,0), thread (0,0,0): reads byte 0 of shared memory, which nobody wrote, at `%x = "
            "load i32, ptr addrspace(3) @shared, align 4` (and 3 more like it)");
  Options options;
  options.uninitialised = false;
  TestKernel lenient(text, options);
  std::vector<int32_t> a(1);
  lenient.buffer(a);
  EXPECT_EQ(lenient.run({1}, {1}), "");
}

TEST(EmulatorFault, SharedMemoryOfTheBlockBefore) {
  // Block 0 writes what block 1 only reads.
  EXPECT_THAT(run(kernelText("ptr addrspace(1) %a", R"(
  %first = icmp eq i32 %block, 0
  br i1 %first, label %write, label %read
write:
  store i32 1, ptr addrspace(3) @shared, align 4
  ret void
read:
  %x = load i32, ptr addrspace(3) @shared, align 4
  store i32 %x, ptr addrspace(1) %a, align 4
  ret void)"),
                  1, {2}, {1}),
              testing::HasSubstr("block (1,0,0), thread (0,0,0): reads byte 0 of shared memory, which nobody wrote"));
}

TEST(EmulatorFault, NamesTheLineWhereThereIsOne) {
  EXPECT_EQ(
      run(kernelText("ptr addrspace(1) %a", "store i32 1, ptr addrspace(1) %a, align 4, !dbg !5\nret void") + R"(
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "layer.mlir", directory: "/")
!3 = !DISubroutineType(types: !4)
!4 = !{}
!5 = !DILocation(line: 12, scope: !6)
!6 = distinct !DISubprogram(name: "k", scope: !2, file: !2, type: !3, unit: !1, spFlags: DISPFlagDefinition)
)",
          0, {1}, {1}),
      "kernel \"k\", block (0,0,0), thread (0,0,0): writes 4 bytes at byte 0 of \"a\", which has 0, at layer.mlir:12");
}

TEST(EmulatorFault, ListsAllFaultsOfALaunch) {
  TestKernel kernel(kernelText("ptr addrspace(1) %a", R"(
  %p = getelementptr i8, ptr addrspace(1) %a, i32 2
  store i32 1, ptr addrspace(1) %p, align 4
  %q = getelementptr i8, ptr addrspace(1) %a, i32 8
  store i32 1, ptr addrspace(1) %q, align 4
  ret void)"));
  std::vector<int32_t> a(2);
  kernel.buffer(a);
  EXPECT_THAT(kernel.run({1}, {1}), testing::HasSubstr("\n"));
  ASSERT_EQ(kernel.emulator.faults().size(), 2u);
  EXPECT_EQ(kernel.emulator.faults()[0].kind, FaultKind::Misaligned);
  EXPECT_EQ(kernel.emulator.faults()[1].kind, FaultKind::OutOfBounds);
}

} // namespace
