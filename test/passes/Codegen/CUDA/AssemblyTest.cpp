// Kernels of real sizes as PTX and through ptxas: accesses of 16 bytes, nothing spilled. Skipped where there is no
// CUDA.
#include "KernelTesting.h"
#include "dialect/Step/Step.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "passes/Codegen/CUDA/Kernels.h"
#include "llvm/Support/FormatVariadic.h"
using namespace hocket::codegen::testing;
using namespace hocket;
using llvm::formatv;

namespace {
struct Assembled {
  std::vector<cuda::CompiledKernel> kernels;
  std::string error;
};
/// Compiles kernel @k of a text for all architectures.
Assembled assembled(const std::string &text) {
  mlir::MLIRContext context;
  context.loadDialect<step::StepDialect, nn::NNDialect, dist::DistDialect, mlir::func::FuncDialect,
                      mlir::arith::ArithDialect, mlir::math::MathDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return {{}, "does not parse"};
  auto toolkit = cuda::Toolkit::find();
  if (!toolkit)
    return {{}, llvm::toString(toolkit.takeError())};
  auto made = cuda::emitKernels(*module);
  if (failed(made))
    return {{}, "has no kernel"};
  auto kernels = cuda::compileKernels(*module, **made, *toolkit, 0);
  if (!kernels)
    return {{}, llvm::toString(kernels.takeError())};
  return {std::move(*kernels), ""};
}
int64_t count(llvm::StringRef text, llvm::StringRef word) { return static_cast<int64_t>(text.count(word)); }

/// Bulk data moves 16 bytes at a time: no load or store of a single 16-bit number.
void checkKernelIsWide(const std::string &text, bool storesBulk = true) {
  SCOPED_TRACE(text);
  Assembled found = assembled(text);
  ASSERT_EQ(found.error, "");
  const cuda::CompiledKernel &kernel = found.kernels.front();
  EXPECT_GE(count(kernel.ptx, "ld.global.v4") + count(kernel.ptx, "ld.global.nc.v4"), 1);
  EXPECT_GE(count(kernel.ptx, "st.global.v4"), storesBulk);
  EXPECT_EQ(count(kernel.ptx, "ld.global.b16") + count(kernel.ptx, "ld.global.nc.b16"), 0);
  EXPECT_EQ(count(kernel.ptx, "st.global.b16"), 0);
  EXPECT_EQ(count(kernel.ptx, ".extern .func"), 0);
  for (const cuda::Cubin &cubin : kernel.cubins) {
    EXPECT_EQ(cubin.figures.size(), kernel.launches.size());
    EXPECT_FALSE(cubin.bytes.empty());
    for (const cuda::Figures &figures : cubin.figures) {
      EXPECT_EQ(figures.spillStoreBytes + figures.spillLoadBytes, 0) << figures.symbol << " on " << cubin.architecture;
      EXPECT_GT(figures.registers, 0);
    }
  }
}
bool hasToolkit() {
  auto toolkit = cuda::Toolkit::find();
  if (!toolkit)
    llvm::consumeError(toolkit.takeError());
  return bool(toolkit) && !toolkit->ptxas.empty();
}

TEST(Assembly, RowsOfRealModels) {
  if (!hasToolkit())
    GTEST_SKIP() << "no CUDA toolkit on this machine";
  for (int64_t length : {768, 1600, 12288, 50304}) {
    std::string x = tensor({8, 1024, length}, "bf16"), g = tensor({length}, "bf16");
    checkKernelIsWide(formatv("func.func private @k(%a: {0}, %c: {1}, %r: {0}, %g: {1}, %b: {1}) -> ({0}, {0}) {{\n"
                              "%0 = nn.add %a, %c : {0}, {1} -> {0}\n %1 = nn.add %r, %0 : {0}, {0} -> {0}\n"
                              "%y = nn.layer_norm %1, %g, %b : {0}, {1}, {1} -> {0}\n return %1, %y : {0}, {0} }",
                              x, g));
    checkKernelIsWide(formatv("func.func private @k(%d: {0}, %x: {0}, %g: {1}, %r: {0}) -> {0} {{\n"
                              "%y = nn.layer_norm_grad %d, %x, %g : {0}, {0}, {1} -> {0}\n"
                              "%z = nn.add %y, %r : {0}, {0} -> {0}\n return %z : {0} }",
                              x, g));
  }
}

TEST(Assembly, ElementsColumnsAndTables) {
  if (!hasToolkit())
    GTEST_SKIP() << "no CUDA toolkit on this machine";
  std::string x = tensor({8, 1024, 3072}, "bf16"), b = tensor({3072}, "bf16"), p = tensor({50257, 768});
  checkKernelIsWide(formatv("func.func private @k(%x: {0}, %b: {1}) -> {0} {{\n%0 = nn.add %x, %b : {0}, {1} -> {0}\n"
                            "%y = nn.gelu %0 : {0} -> {0}\n return %y : {0} }",
                            x, b));
  checkKernelIsWide(
      formatv("func.func private @k(%d: {0}, %x: {0}) -> ({1}, {1}) {{\n"
              "%y, %b = nn.layer_norm_param_grad %d, %x : {0}, {0} -> {1}, {1}\n return %y, %b : {1}, {1} }",
              x, tensor({3072})),
      /*storesBulk=*/false);
  checkKernelIsWide(formatv(
      "func.func private @k(%p: {0}, %g: {0}, %m: {0}, %v: {0}, %r: tensor<f32>, %c: tensor<f32>, "
      "%t: tensor<i64>) -> ({0}, {0}, {0}) {{\n"
      "%a, %b, %d = nn.adamw %p, %g, %m, %v rate %r clip %c step %t (betas = [0.9, 0.95], "
      "eps = 1e-8, weight_decay = 0.1, lr_scale = 1.0) : {0}, {0}, {0}, {0}, tensor<f32>, tensor<f32>, tensor<i64> "
      "-> {0}, {0}, {0}\n return %a, %b, %d : {0}, {0}, {0} }",
      p));
  checkKernelIsWide(
      "func.func private @k(%i: tensor<8x1024xi32>, %t: tensor<50257x768xbf16>) -> tensor<8x1024x768xbf16> "
      "{\n%y = nn.embedding %i, %t : tensor<8x1024xi32>, tensor<50257x768xbf16> -> "
      "tensor<8x1024x768xbf16>\n return %y : tensor<8x1024x768xbf16> }");
  checkKernelIsWide("func.func private @k(%x: tensor<8x1024x12x64xbf16>, %p: tensor<8x1024xi32>) -> "
                    "tensor<8x1024x12x64xbf16> {\n%y = nn.rope %x at %p : tensor<8x1024x12x64xbf16>, "
                    "tensor<8x1024xi32> -> tensor<8x1024x12x64xbf16>\n return %y : tensor<8x1024x12x64xbf16> }");
}

TEST(Assembly, WhatIsMissingIsSaid) {
  cuda::Toolkit none;
  auto cubin = cuda::assemble(".version 7.0", "sm_80", none);
  ASSERT_FALSE(bool(cubin));
  EXPECT_EQ(llvm::toString(cubin.takeError()),
            "ptxas was not found; it comes with CUDA (set CUDA_HOME to where CUDA is)");
  if (!hasToolkit())
    return;
  auto toolkit = llvm::cantFail(cuda::Toolkit::find());
  auto ptx = cuda::emitPtx("", "sm_8x");
  ASSERT_FALSE(bool(ptx));
  EXPECT_EQ(llvm::toString(ptx.takeError()), "unknown architecture 'sm_8x', expected one like sm_80, sm_90 or sm_100");
  auto bad = cuda::assemble("nonsense", "sm_80", toolkit);
  ASSERT_FALSE(bool(bad));
  EXPECT_TRUE(llvm::StringRef(llvm::toString(bad.takeError()))
                  .starts_with("a fault of the compiler: " + toolkit.ptxas +
                               " failed for sm_80 with exit status 255; it said:\nptxas "));
}
} // namespace
