// What is refused, by name, and what is compiled once.
#include "EmulatorTesting.h"

using namespace hocket::test;
namespace {

std::string loadError(const std::string &text) {
  Emulator emulator;
  auto module = emulator.load(text);
  return module ? "" : module.error().message;
}

TEST(EmulatorLoad, NamesEverythingItDoesNotKnow) {
  EXPECT_EQ(loadError(kernelText("ptr addrspace(1) %a", R"(
  call void @llvm.nvvm.barrier.cluster.arrive()
  call void @somewhere(i32 1)
  call void asm sideeffect "wgmma.fence.sync.aligned;", ""()
  ret void)",
                                 "declare void @llvm.nvvm.barrier.cluster.arrive()\ndeclare void @somewhere(i32)")),
            "the emulator does not know inline assembly \"wgmma.fence.sync.aligned;\", "
            "llvm.nvvm.barrier.cluster.arrive, somewhere");
}

TEST(EmulatorLoad, RefusesOtherInputs) {
  EXPECT_EQ(loadError("not IR"), "not LLVM IR: expected top-level entity");
  EXPECT_EQ(loadError("target triple = \"x86_64-linux-gnu\"\n"), "made for \"x86_64-linux-gnu\", not for nvptx64");
  EXPECT_EQ(loadError("target triple = \"nvptx64-nvidia-cuda\"\n"), "no kernel in it");
}

TEST(EmulatorLoad, DescribesKernelsAndCompilesATextOnce) {
  Emulator emulator;
  std::string text = kernelText("ptr addrspace(1) %a, i64 %n, float %x", "ret void");
  auto first = emulator.load(text), second = emulator.load(text);
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, *second);
  ASSERT_EQ((*first)->kernels().size(), 1u);
  EXPECT_EQ((*first)->kernels()[0].name, "k");
  EXPECT_THAT((*first)->kernels()[0].argumentBytes, testing::ElementsAre(8, 8, 4));
  auto missing = emulator.launch(**first, "other", {1}, {1}, 0, {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "no kernel \"other\"");
}

} // namespace
