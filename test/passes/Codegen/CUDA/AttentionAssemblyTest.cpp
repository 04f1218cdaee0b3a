// Attention's GPU kernels as PTX and machine code: no spills on any architecture, bulk data 16 bytes at a time, tensor
// cores, no atomics.
#include "AttentionCase.h"
#include "dialect/Step/Step.h"
#include "mlir/Parser/Parser.h"
#include "passes/Codegen/CUDA/Kernels.h"
using namespace mlir;
using namespace hocket;
using namespace hocket::codegen::testing;

namespace {
/// Bitcode of kernel @k of a text.
std::string bitcodeOf(const std::string &text, const cuda::Toolkit &toolkit) {
  MLIRContext context;
  context.loadDialect<step::StepDialect, nn::NNDialect, dist::DistDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  auto made = cuda::emitKernels(*module);
  return llvm::cantFail(cuda::translateKernel((*made)->lookupSymbol<ModuleOp>("k"), toolkit));
}
AttentionCase large(int64_t size, const char *mask) { return {2, 1024, 1024, 4, 2, size, size, mask, true}; }
int count(llvm::StringRef text, llvm::StringRef word) { return static_cast<int>(text.count(word)); }

TEST(AttentionAssembly, NoSpills) {
  auto toolkit = llvm::cantFail(cuda::Toolkit::find());
  if (toolkit.ptxas.empty())
    GTEST_SKIP() << "there is no ptxas";
  for (const char *element : {"bf16", "f16", "f32"})
    for (int64_t size : {64, 80, 96, 128})
      for (const char *mask : {"causal scale(0.125)", "causal scale(0.125) window(256)"}) {
        if (element != std::string("bf16") && mask != std::string("causal scale(0.125)"))
          continue;
        AttentionTexts texts = textsOf(large(size, mask), element);
        for (const std::string &text : {texts.forward, texts.backward}) {
          std::string bitcode = bitcodeOf(text, toolkit);
          for (llvm::StringRef architecture : cuda::architectures) {
            auto ptx = llvm::cantFail(cuda::emitPtx(bitcode, architecture));
            auto cubin = llvm::cantFail(cuda::assemble(ptx, architecture, toolkit));
            for (const cuda::Figures &figures : cubin.figures)
              EXPECT_EQ(figures.spillStoreBytes + figures.spillLoadBytes, 0)
                  << figures.symbol << " for " << architecture.str() << ", " << figures.registers
                  << " registers: " << text;
          }
        }
      }
}

TEST(AttentionAssembly, Instructions) {
  auto toolkit = llvm::cantFail(cuda::Toolkit::find());
  for (const char *element : {"bf16", "f16"})
    for (int64_t size : {64, 80, 96, 128}) {
      AttentionTexts texts = textsOf(large(size, "causal scale(0.125)"), element);
      for (const std::string &text : {texts.forward, texts.backward}) {
        SCOPED_TRACE(text);
        std::string ptx = llvm::cantFail(cuda::emitPtx(bitcodeOf(text, toolkit), "sm_80"));
        std::string type = element == std::string("bf16") ? "bf16.bf16" : "f16.f16";
        EXPECT_GT(count(ptx, "mma.sync.aligned.m16n8k16.row.col.f32." + type), 0);
        EXPECT_GT(count(ptx, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"), 0);
        EXPECT_GT(count(ptx, "cp.async.cg.shared.global"), 0);
        EXPECT_GT(count(ptx, "st.global.v4.b32"), 0);
        // 16-bit elements never go alone
        for (const char *narrow :
             {"ld.global.b16", "st.global.b16", "ld.global.nc.b16", "ld.shared.b16", "st.shared.b16"})
          EXPECT_EQ(count(ptx, narrow), 0) << narrow;
        for (const char *atomic : {"\tatom.", "\tred."})
          EXPECT_EQ(count(ptx, atomic), 0) << atomic;
      }
    }
}

TEST(AttentionAssembly, TooLargeHeadsAreRefused) {
  MLIRContext context;
  context.loadDialect<step::StepDialect, nn::NNDialect, dist::DistDialect, func::FuncDialect>();
  AttentionCase c{1, 64, 64, 1, 1, 512, 512, "full scale(0.1)"};
  auto module = parseSourceString<ModuleOp>(textsOf(c).backward, &context);
  std::vector<std::string> messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) { messages.push_back(diagnostic.str()); });
  EXPECT_TRUE(failed(cuda::emitKernels(*module)));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0], "'nn.attention_grad' op needs 268288 bytes of shared memory for these head sizes, at most "
                         "166912 are there");
}
} // namespace
